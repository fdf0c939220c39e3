import type { PortalError } from '@portal/client/portal-error';
import type { ErrorCode, errorCodes } from '@portal/domain/error-codes';
import { catalogue, formatRelative, language } from './language.ts';
import { lostConnection } from './ui/texts.ts';

type Words = Record<ErrorCode | 'UNREACHABLE', string>;

/** What to tell people about an error: what is wrong, and what they can do next. */
export function sentenceFor(error: PortalError): string {
  const { code, message, retryAfterSec } = error;
  const own = isKnown(code) ? errorTexts.value[code] : null;
  const sentence = own === null || isSpecific(error) ? inWordsOf(message, own) : own;
  return retryAfterSec !== null || isPause(code) ? `${sentence} ${adviceToWait(retryAfterSec)}` : sentence;
}

/** What to tell people about a refused field; `message` is what the service says about it. */
export function fieldText(message: string): string {
  const found = patternFor(message, fieldPatterns);
  if (found !== null) return found;
  const sentence = message.slice(0, 1).toUpperCase() + message.slice(1);
  return /[.!?]$/.test(sentence) ? sentence : `${sentence}.`;
}

const isKnown = (code: string): code is keyof Words => Object.hasOwn(en, code);

// After these, only time helps.
const isPause = (code: string) => code === 'RATE_LIMITED' || code === 'POLL_LOCKED' || code === 'UNAVAILABLE';

function adviceToWait(seconds: number | null): string {
  const isGerman = language.value === 'de';
  if (seconds === null) return isGerman ? 'Bitte versuchen Sie es später erneut.' : 'Please try again later.';
  const nowMs = Date.now();
  const when = formatRelative(nowMs + Math.max(seconds, 1) * 1_000, nowMs);
  return isGerman ? `Bitte versuchen Sie es ${when} erneut.` : `Please try again ${when}.`;
}

/** A sentence of the service in the language of the page. If there is no translation, our own words come first. */
function inWordsOf(message: string, own: string | null): string {
  if (language.value === 'en') return message;
  return patternFor(message, sentencePatterns) ?? (own === null ? message : `${own} Meldung: „${message}“`);
}

/** True if the service says more than our own words, such as the limit or the server. */
const isSpecific = ({ code, message }: PortalError): boolean =>
  Object.hasOwn(generalMessages, code) && generalMessages[code as keyof typeof generalMessages] !== message;

// Codes whose messages name the very thing. The general message of each says no more than our own words.
const generalMessages: { readonly [Code in ErrorCode]?: (typeof errorCodes)[Code]['message'] } = {
  FORBIDDEN: 'You may not do this.',
  CONFLICT: 'Another user or process changed this at the same time. Please reload and try again.',
  LIMIT_REACHED: 'The maximum number is reached. Please delete an entry first.',
  PASSWORD_POLICY: 'This password does not meet the rules. Please choose another one.',
  DIRECTORY_ACCOUNT: 'This account comes from the directory. Please change it there.',
  UNSUPPORTED_IMAGE: 'This image cannot be used. Please choose another one.',
  TAB_LIMIT: 'You have the maximum number of dashboards. Please delete one first.',
  IMAGE_LIMIT: 'You have the maximum number of pictures. Please delete one first.',
  ARCHIVE_TOO_LARGE: 'The content of the archive is larger than allowed.',
  MISSING_PART: 'A part that this format needs is missing.',
  PASSWORD_REQUIRED: 'Please choose a password: it protects the key.',
  FORMAT_NOT_FOR_KEY_TYPE: 'This format does not support keys of this type.',
  FILE_UNREADABLE: 'This file cannot be read. Please save it again and upload the new file.',
  HEADER_MISSING: 'The file has no header with the required columns.',
  UNKNOWN_PLACEHOLDER: 'The text contains an unknown placeholder.',
  MAIL_DELIVERY_FAILED: 'The mail server did not accept the mail.',
  DIRECTORY_UNAVAILABLE: 'The directory server cannot be reached.',
  SYNC_BLOCKED: 'The synchronization would deactivate too many accounts.',
  MAILBOX_UNAVAILABLE: 'The mailbox cannot be read.',
  OUTBOUND_BLOCKED: 'The portal is not allowed to call this address.',
  OUTBOUND_UNREACHABLE: 'The host could not be reached.',
  OUTBOUND_CERTIFICATE: 'The host did not show a valid certificate.',
  OUTBOUND_TIMEOUT: 'The host did not answer in time.',
  OUTBOUND_TOO_LARGE: 'The answer of the host is too large.',
  OUTBOUND_REDIRECTS: 'The host redirected too often.',
  OUTBOUND_MALFORMED: 'The host sent an answer that cannot be read.',
};

const de: Words = {
  UNREACHABLE: lostConnection.de,

  VALIDATION_FAILED: 'Einige Angaben stimmen noch nicht. Bitte prüfen Sie die Eingaben.',
  INVALID_JSON: 'Die Anfrage war fehlerhaft. Bitte laden Sie die Seite neu.',
  UNAUTHENTICATED: 'Bitte melden Sie sich an.',
  FORBIDDEN: 'Dazu fehlt Ihnen die Berechtigung.',
  ORIGIN_NOT_ALLOWED:
    'Unter dieser Adresse nimmt das Portal keine Änderungen an. Bitte öffnen Sie es unter seiner üblichen Adresse.',
  NOT_FOUND: 'Das gibt es nicht oder nicht mehr.',
  METHOD_NOT_ALLOWED: 'Die Anfrage war fehlerhaft. Bitte laden Sie die Seite neu.',
  REQUEST_TIMEOUT: 'Die Übertragung hat zu lange gedauert. Bitte versuchen Sie es erneut.',
  CONFLICT: 'Inzwischen wurde hier etwas geändert. Bitte laden Sie die Seite neu und versuchen Sie es erneut.',
  LIMIT_REACHED: 'Die Höchstzahl ist erreicht. Bitte löschen Sie zuerst einen Eintrag.',
  PAYLOAD_TOO_LARGE: 'Das ist zu groß. Bitte wählen Sie eine kleinere Datei oder kürzen Sie den Text.',
  UNSUPPORTED_MEDIA_TYPE: 'Dieser Dateityp passt hier nicht. Bitte wählen Sie eine andere Datei.',
  RANGE_NOT_SATISFIABLE: 'Die Datei hat sich geändert. Bitte laden Sie sie noch einmal herunter.',
  EXPECTATION_FAILED: 'Die Anfrage war fehlerhaft. Bitte laden Sie die Seite neu.',
  RATE_LIMITED: 'Das waren zu viele Versuche in kurzer Zeit.',
  HEADERS_TOO_LARGE:
    'Ihr Browser schickt zu viele Daten mit. Bitte löschen Sie die Cookies dieser Website und versuchen Sie es erneut.',
  INTERNAL: 'Im Portal ist ein Fehler aufgetreten. Bitte versuchen Sie es erneut.',
  UNAVAILABLE: 'Das Portal ist gerade nicht bereit.',

  INVALID_CREDENTIALS: 'Benutzername oder Passwort stimmt nicht.',
  CURRENT_PASSWORD_WRONG: 'Das aktuelle Passwort stimmt nicht.',
  CURRENT_PASSWORD_REQUIRED: 'Bitte geben Sie Ihr aktuelles Passwort ein, um Ihre E-Mail-Adresse zu ändern.',
  PASSWORD_CHANGE_REQUIRED: 'Bitte ändern Sie zuerst Ihr Passwort.',
  PASSWORD_POLICY: 'Dieses Passwort ist nicht zulässig. Bitte wählen Sie ein anderes.',
  TOKEN_INVALID: 'Dieser Link gilt nicht mehr. Bitte fordern Sie einen neuen an.',
  TENANT_FIXED: 'Ein Konto bleibt in seinem Mandanten. Bitte legen Sie im anderen Mandanten ein neues an.',
  ROLE_NOT_ALLOWED: 'Die Rolle SUPER_ADMIN darf nur ein SUPER_ADMIN vergeben.',
  USERNAME_TAKEN: 'Diesen Benutzernamen gibt es schon. Bitte wählen Sie einen anderen.',
  EMAIL_TAKEN: 'Diese E-Mail-Adresse gehört schon zu einem anderen Konto.',
  DIRECTORY_ACCOUNT: 'Dieses Konto kommt aus dem Verzeichnis. Bitte ändern Sie es dort.',
  LAST_SUPER_ADMIN: 'Das ist der letzte aktive SUPER_ADMIN. Bitte ernennen Sie zuerst einen weiteren.',
  NO_ADDRESS: 'Zu diesem Konto ist keine E-Mail-Adresse hinterlegt. Bitte tragen Sie zuerst eine ein.',
  NOT_COMPARABLE: 'Die laufende Version hat keine Versionsnummer und lässt sich nicht vergleichen.',

  TENANT_NAME_TAKEN: 'Einen Mandanten mit diesem Namen gibt es schon. Bitte wählen Sie einen anderen Namen.',
  OWN_TENANT: 'Ihren eigenen Mandanten können Sie nicht deaktivieren.',
  TENANT_HAS_ACTIVE_USERS: 'Dieser Mandant hat noch aktive Konten. Bitte deaktivieren oder löschen Sie diese zuerst.',

  MODULE_DISABLED: 'Dieses Modul ist in Ihrer Organisation abgeschaltet.',
  MODULE_ACCESS_DENIED:
    'Sie haben keinen Zugriff auf dieses Modul. Bitte wenden Sie sich an die Administration Ihrer Organisation.',
  MANAGE_REQUIRED:
    'Sie dürfen dieses Modul nutzen, aber nicht verwalten. Bitte wenden Sie sich an die Administration Ihrer Organisation.',
  GROUP_NAME_TAKEN: 'Eine Gruppe mit diesem Namen gibt es schon. Bitte wählen Sie einen anderen Namen.',
  DIRECTORY_GROUP: 'Diese Gruppe kommt aus dem Verzeichnis. Bitte ändern Sie sie dort.',
  TARGET_REQUIRED: 'Bitte wählen Sie die Kategorie, in die die Module dieser Kategorie umziehen.',

  UNSUPPORTED_IMAGE: 'Dieses Bild lässt sich nicht verwenden. Bitte wählen Sie ein anderes.',
  INVALID_WIDGET_TYPE: 'Diese Art von Kachel gibt es nicht. Bitte laden Sie die Seite neu.',
  TAB_LIMIT: 'Mehr Dashboards sind nicht möglich. Bitte löschen Sie zuerst eines.',
  LAST_TAB: 'Das letzte Dashboard können Sie nicht löschen.',
  IMAGE_LIMIT: 'Mehr Bilder sind nicht möglich. Bitte löschen Sie zuerst eines.',
  GRID_VERSION_NEWER:
    'Dieses Dashboard wurde mit einer neueren Version des Portals angeordnet. Bitte laden Sie die Seite neu, bevor Sie es ändern.',
  LAYOUT_CHANGED: 'Dieses Dashboard wurde inzwischen an anderer Stelle umgeordnet. Bitte laden Sie es neu.',

  REMINDER_DUE: 'Diese Erinnerung ist fällig. Bitte verschieben oder erledigen Sie sie.',
  REMINDER_NOT_DUE: 'Diese Erinnerung ist noch nicht fällig. Erst dann können Sie sie verschieben oder erledigen.',
  REMINDER_DONE: 'Diese Erinnerung ist erledigt und lässt sich nicht mehr ändern.',

  TOO_MANY_FILES: 'Das sind zu viele Dateien auf einmal. Bitte wählen Sie weniger aus.',
  TOO_LARGE: 'Eine Datei oder alle zusammen sind zu groß. Bitte wählen Sie kleinere oder weniger Dateien.',
  ARCHIVE_TOO_LARGE: 'Der Inhalt des Archivs ist zu groß. Bitte entpacken Sie es und wählen Sie einzelne Dateien.',
  MISSING_PART: 'Für dieses Format fehlt ein Teil. Bitte ergänzen Sie ihn oder wählen Sie ein anderes Format.',
  KEY_MISMATCH: 'Schlüssel und Zertifikat gehören nicht zusammen. Bitte wählen Sie den passenden Schlüssel.',
  PASSWORD_REQUIRED: 'Bitte geben Sie ein Passwort ein, das den Schlüssel schützt.',
  FORMAT_NOT_FOR_KEY_TYPE: 'Dieses Format passt nicht zur Art des Schlüssels. Bitte wählen Sie ein anderes.',

  FILE_UNREADABLE:
    'Diese Datei lässt sich nicht lesen. Bitte speichern Sie sie neu und laden Sie sie noch einmal hoch.',
  ENCODING_UNSUPPORTED:
    'Die Zeichen dieser Datei lassen sich nicht lesen. Bitte speichern Sie sie als CSV in UTF-8 oder Windows-1252.',
  HEADER_MISSING: 'In der Datei fehlt die Kopfzeile mit den nötigen Spalten. Bitte ergänzen Sie sie.',
  TOO_MANY_ROWS: 'Die Datei hat zu viele Zeilen. Bitte teilen Sie sie auf.',
  ROW_ERRORS: 'Einige Zeilen der Datei sind fehlerhaft. Bitte korrigieren Sie diese zuerst.',
  SUM_NEGATIVE: 'Bei mindestens einer Person ist die Summe negativ. Bitte bestätigen Sie, dass das stimmt.',
  NOTHING_TO_EXPORT: 'Es ist nichts zu exportieren.',
  PERIOD_REQUIRED: 'In Zelle B1 steht kein Monat. Bitte wählen Sie den Monat aus.',
  SETTINGS_INCOMPLETE: 'Die Einstellungen sind unvollständig. Bitte ergänzen Sie sie zuerst.',
  ACCOUNTS_STALE: 'Die Kontenliste wurde inzwischen geändert. Bitte prüfen Sie die Vorschau noch einmal.',

  SECRET_REQUIRED: 'Bitte geben Sie das Passwort noch einmal ein, denn es wurde für andere Angaben gespeichert.',
  UNKNOWN_PLACEHOLDER: 'Der Text enthält einen unbekannten Platzhalter. Bitte verwenden Sie nur die angebotenen.',
  MAIL_NOT_CONFIGURED:
    'Es ist kein Mailserver eingerichtet. Die Administration kann ihn in den Mail-Einstellungen eintragen.',
  MAIL_DELIVERY_FAILED: 'Der Mailserver hat die Mail nicht angenommen. Bitte prüfen Sie die Mail-Einstellungen.',
  DIRECTORY_NOT_CONFIGURED: 'Es ist noch kein Verzeichnis eingerichtet. Bitte tragen Sie zuerst Server und Basis ein.',
  DIRECTORY_UNAVAILABLE: 'Der Verzeichnisserver ist nicht erreichbar. Bitte prüfen Sie die Einstellungen.',
  SYNC_RUNNING: 'Der Abgleich läuft bereits. Bitte warten Sie, bis er fertig ist.',
  SYNC_BLOCKED:
    'Der Abgleich würde zu viele Konten deaktivieren und hat deshalb nichts geändert. Bitte prüfen Sie die Vorschau.',

  NOT_A_PNG: 'Das Bildschirmfoto ist kein PNG-Bild. Bitte wählen Sie ein anderes.',
  NO_RECIPIENT:
    'Ihre Organisation hat noch keinen Empfänger für Fehlerberichte. Die Administration kann ihn in den Mail-Einstellungen eintragen.',

  INVALID_ORIGIN: 'Bitte geben Sie eine https-Adresse ohne Pfad an, etwa https://portal.example.org.',

  TOKEN_NOT_SUPPORTED: 'Server dieser Art unterstützen keine API-Tokens. Bitte verwenden Sie ein Passwort.',
  POLL_LOCKED: 'Die letzte Abfrage hat gerade erst begonnen.',

  MAILBOX_NOT_CONFIGURED: 'Es ist noch kein Postfach eingerichtet. Bitte tragen Sie zuerst Server und Konto ein.',
  MAILBOX_UNAVAILABLE: 'Das Postfach lässt sich nicht lesen. Bitte prüfen Sie die Zugangsdaten.',
  NAME_TAKEN: 'Dieser Name ist schon vergeben. Bitte wählen Sie einen anderen.',
  FEED_EXISTS: 'Dieser Feed ist schon eingetragen.',

  OUTBOUND_BLOCKED: 'Diese Adresse darf das Portal nicht aufrufen. Bitte wählen Sie eine öffentliche Adresse.',
  OUTBOUND_UNREACHABLE: 'Unter dieser Adresse ist kein Server erreichbar. Bitte prüfen Sie die Adresse.',
  OUTBOUND_CERTIFICATE: 'Der Server hat kein gültiges Zertifikat. Bitte lassen Sie es dort erneuern.',
  OUTBOUND_TIMEOUT: 'Der Server hat nicht rechtzeitig geantwortet. Bitte versuchen Sie es später erneut.',
  OUTBOUND_TOO_LARGE: 'Die Antwort des Servers ist zu groß.',
  OUTBOUND_REDIRECTS: 'Der Server leitet zu oft weiter. Bitte geben Sie die endgültige Adresse an.',
  OUTBOUND_MALFORMED: 'Die Antwort des Servers ist nicht lesbar. Bitte prüfen Sie die Adresse.',
};

const en: Words = {
  UNREACHABLE: lostConnection.en,

  VALIDATION_FAILED: 'Some entries are not right yet. Please check them.',
  INVALID_JSON: 'The request was malformed. Please reload the page.',
  UNAUTHENTICATED: 'Please sign in.',
  FORBIDDEN: 'You do not have permission to do this.',
  ORIGIN_NOT_ALLOWED: 'The portal accepts no changes at this address. Please open it at its usual address.',
  NOT_FOUND: 'This does not exist, or no longer does.',
  METHOD_NOT_ALLOWED: 'The request was malformed. Please reload the page.',
  REQUEST_TIMEOUT: 'The transfer took too long. Please try again.',
  CONFLICT: 'Something has changed here in the meantime. Please reload the page and try again.',
  LIMIT_REACHED: 'The maximum number is reached. Please delete an entry first.',
  PAYLOAD_TOO_LARGE: 'This is too large. Please choose a smaller file or shorten the text.',
  UNSUPPORTED_MEDIA_TYPE: 'This type of file does not fit here. Please choose another file.',
  RANGE_NOT_SATISFIABLE: 'The file has changed. Please download it again.',
  EXPECTATION_FAILED: 'The request was malformed. Please reload the page.',
  RATE_LIMITED: 'These were too many attempts in a short time.',
  HEADERS_TOO_LARGE: 'Your browser sends too much data along. Please delete the cookies of this website and try again.',
  INTERNAL: 'An error occurred in the portal. Please try again.',
  UNAVAILABLE: 'The portal is not ready right now.',

  INVALID_CREDENTIALS: 'The username or password is wrong.',
  CURRENT_PASSWORD_WRONG: 'The current password is wrong.',
  CURRENT_PASSWORD_REQUIRED: 'Please enter your current password to change your e-mail address.',
  PASSWORD_CHANGE_REQUIRED: 'Please change your password first.',
  PASSWORD_POLICY: 'This password is not allowed. Please choose another one.',
  TOKEN_INVALID: 'This link is no longer valid. Please request a new one.',
  TENANT_FIXED: 'An account stays in its tenant. Please create a new one in the other tenant.',
  ROLE_NOT_ALLOWED: 'Only a SUPER_ADMIN may assign the role SUPER_ADMIN.',
  USERNAME_TAKEN: 'This username already exists. Please choose another one.',
  EMAIL_TAKEN: 'This e-mail address already belongs to another account.',
  DIRECTORY_ACCOUNT: 'This account comes from the directory. Please change it there.',
  LAST_SUPER_ADMIN: 'This is the last active SUPER_ADMIN. Please appoint another one first.',
  NO_ADDRESS: 'This account has no e-mail address. Please enter one first.',
  NOT_COMPARABLE: 'The running version has no version number to compare with.',

  TENANT_NAME_TAKEN: 'A tenant with this name already exists. Please choose another name.',
  OWN_TENANT: 'You cannot deactivate your own tenant.',
  TENANT_HAS_ACTIVE_USERS: 'This tenant still has active accounts. Please deactivate or delete them first.',

  MODULE_DISABLED: 'This module is switched off for your organization.',
  MODULE_ACCESS_DENIED: 'You have no access to this module. Please ask an administrator of your organization.',
  MANAGE_REQUIRED: 'You may use this module, but not manage it. Please ask an administrator of your organization.',
  GROUP_NAME_TAKEN: 'A group with this name already exists. Please choose another name.',
  DIRECTORY_GROUP: 'This group comes from the directory. Please change it there.',
  TARGET_REQUIRED: 'Please choose the category that the modules of this one move to.',

  UNSUPPORTED_IMAGE: 'This image cannot be used. Please choose another one.',
  INVALID_WIDGET_TYPE: 'This kind of tile does not exist. Please reload the page.',
  TAB_LIMIT: 'You cannot have more dashboards. Please delete one first.',
  LAST_TAB: 'You cannot delete the last dashboard.',
  IMAGE_LIMIT: 'You cannot have more pictures. Please delete one first.',
  GRID_VERSION_NEWER:
    'This dashboard was arranged with a newer version of the portal. Please reload the page before you change it.',
  LAYOUT_CHANGED: 'This dashboard was rearranged elsewhere in the meantime. Please load it again.',

  REMINDER_DUE: 'This reminder is due. Please snooze it or mark it as done.',
  REMINDER_NOT_DUE: 'This reminder is not due yet. You can snooze it or mark it as done once it is.',
  REMINDER_DONE: 'This reminder is done and can no longer be changed.',

  TOO_MANY_FILES: 'These are too many files at once. Please choose fewer.',
  TOO_LARGE: 'A file, or all of them together, is too large. Please choose smaller or fewer files.',
  ARCHIVE_TOO_LARGE: 'The content of the archive is too large. Please unpack it and choose single files.',
  MISSING_PART: 'A part that this format needs is missing. Please add it or choose another format.',
  KEY_MISMATCH: 'The key does not belong to the certificate. Please choose the matching key.',
  PASSWORD_REQUIRED: 'Please enter a password that protects the key.',
  FORMAT_NOT_FOR_KEY_TYPE: 'This format does not fit this type of key. Please choose another one.',

  FILE_UNREADABLE: 'This file cannot be read. Please save it again and upload the new file.',
  ENCODING_UNSUPPORTED: 'The characters of this file cannot be read. Please save it as CSV in UTF-8 or Windows-1252.',
  HEADER_MISSING: 'The file has no header with the required columns. Please add it.',
  TOO_MANY_ROWS: 'The file has too many rows. Please split it into parts.',
  ROW_ERRORS: 'Some rows of the file have errors. Please correct them first.',
  SUM_NEGATIVE: 'The sum of at least one person is below zero. Please confirm that this is right.',
  NOTHING_TO_EXPORT: 'There is nothing to export.',
  PERIOD_REQUIRED: 'Cell B1 does not name a month. Please choose the month.',
  SETTINGS_INCOMPLETE: 'The settings are incomplete. Please fill them in first.',
  ACCOUNTS_STALE: 'The account list has changed in the meantime. Please check the preview again.',

  SECRET_REQUIRED: 'Please enter the password again, because it was saved for other settings.',
  UNKNOWN_PLACEHOLDER: 'The text contains an unknown placeholder. Please use only those on offer.',
  MAIL_NOT_CONFIGURED: 'No mail server is set up. An administrator can enter one in the mail settings.',
  MAIL_DELIVERY_FAILED: 'The mail server did not accept the mail. Please check the mail settings.',
  DIRECTORY_NOT_CONFIGURED: 'No directory is set up yet. Please enter its server and base first.',
  DIRECTORY_UNAVAILABLE: 'The directory server cannot be reached. Please check the settings.',
  SYNC_RUNNING: 'A synchronization is already running. Please wait until it is finished.',
  SYNC_BLOCKED:
    'The synchronization would deactivate too many accounts, so it changed nothing. Please check the preview.',

  NOT_A_PNG: 'The screenshot is not a PNG picture. Please choose another one.',
  NO_RECIPIENT:
    'Your organization has no recipient for bug reports yet. An administrator can enter one in the mail settings.',

  INVALID_ORIGIN: 'Please enter an https address without a path, such as https://portal.example.org.',

  TOKEN_NOT_SUPPORTED: 'Servers of this kind do not support API tokens. Please use a password.',
  POLL_LOCKED: 'The last check has only just started.',

  MAILBOX_NOT_CONFIGURED: 'No mailbox is set up yet. Please enter its server and account first.',
  MAILBOX_UNAVAILABLE: 'The mailbox cannot be read. Please check its account and password.',
  NAME_TAKEN: 'This name is already in use. Please choose another one.',
  FEED_EXISTS: 'This feed is already registered.',

  OUTBOUND_BLOCKED: 'The portal may not call this address. Please choose a public address.',
  OUTBOUND_UNREACHABLE: 'No server can be reached at this address. Please check the address.',
  OUTBOUND_CERTIFICATE: 'The server has no valid certificate. Please have it renewed there.',
  OUTBOUND_TIMEOUT: 'The server did not answer in time. Please try again later.',
  OUTBOUND_TOO_LARGE: 'The answer of the server is too large.',
  OUTBOUND_REDIRECTS: 'The server redirects too often. Please enter the final address.',
  OUTBOUND_MALFORMED: 'The answer of the server cannot be read. Please check the address.',
};

/** What to tell people about each refusal, and what they can do next. */
export const errorTexts = catalogue({ de, en });

/** What the service says, and the words for it. Without English words, those of the service stay. */
type Pattern = [says: RegExp, german: string, english?: string];

function patternFor(message: string, patterns: readonly Pattern[]): string | null {
  for (const [says, german, english] of patterns) {
    const words = language.value === 'de' ? german : english;
    if (words !== undefined && says.test(message)) return message.replace(says, words);
  }
  return null;
}

const sentencePatterns: readonly Pattern[] = [
  [
    /^The new password must have at least (\d+) characters\.$/,
    'Das neue Passwort muss mindestens $1 Zeichen lang sein.',
  ],
  [/^The new password must have at most (\d+) characters\.$/, 'Das neue Passwort darf höchstens $1 Zeichen lang sein.'],
  [
    /^The new password must not be the username .*$/,
    'Das neue Passwort darf nicht Benutzername oder E-Mail-Adresse sein.',
  ],
  [/^The new password must differ .*$/, 'Das neue Passwort muss sich vom aktuellen unterscheiden.'],
  [
    /^This password is among the most common .*$/,
    'Dieses Passwort ist weit verbreitet und leicht zu erraten. Bitte wählen Sie ein anderes.',
  ],
  [/^Please change your own (?:password|e-mail address) .*$/, 'Bitte ändern Sie das in Ihrem Profil.'],
  [/^You may not change your own role\.$/, 'Ihre eigene Rolle können Sie nicht ändern.'],
  [/^You may not delete your own account\.$/, 'Ihr eigenes Konto können Sie nicht löschen.'],
  [/^You may not deactivate your own account\.$/, 'Ihr eigenes Konto können Sie nicht deaktivieren.'],
  [/^You may only name your own tenant\.$/, 'Sie können nur Ihren eigenen Mandanten angeben.'],
  [/^Only a SUPER_ADMIN may change .*$/, 'Einen SUPER_ADMIN darf nur ein anderer SUPER_ADMIN ändern.'],
  [/^Only administrators may change a shared module\.$/, 'Ein geteiltes Modul darf nur die Administration ändern.'],
  [/^Only administrators may share .*$/, 'Ein Modul für alle freigeben darf nur die Administration.'],
  [/^This category cannot be deleted\. .*$/, 'Diese Kategorie lässt sich nicht löschen, aber umbenennen.'],
  [/^Default mappings cannot be deleted\.$/, 'Vorgegebene Zuordnungen lassen sich nicht löschen.'],
  [/^This feed reported that .*$/, 'Diesen Feed gibt es nicht mehr. Bitte tragen Sie seine neue Adresse ein.'],
  [
    /^Your name and address come from the directory\. .*$/,
    'Name und Adresse kommen aus dem Verzeichnis. Bitte ändern Sie sie dort.',
  ],
  [
    /^This account signs in with the directory\. .*$/,
    'Dieses Konto meldet sich über das Verzeichnis an. Bitte ändern Sie das Passwort dort.',
  ],
  [
    /^The invoice storage of your organization is full, .*$/,
    'Der Speicher für Rechnungen ist voll, neue werden nicht mehr abgeholt. Bitte wenden Sie sich an den Betrieb des Portals.',
  ],
  [
    /^(?:There can be|You can have) at most (\d+) .*$/,
    'Mehr als $1 sind nicht möglich. Bitte löschen Sie zuerst einen Eintrag.',
  ],
  [
    /^(?:There are|You have) (?:already )?(\d+) .*$/,
    'Mehr als $1 sind nicht möglich. Bitte löschen Sie zuerst einen Eintrag.',
  ],
  [
    /^This widget has (\d+) favorites already\. .*$/,
    'Diese Kachel hat schon $1 Favoriten. Bitte verwenden Sie eine andere.',
  ],
  [/^This is not an? ([\w, ]{1,60}) or (\w{1,20}) image\.$/, 'Das ist kein Bild im Format $1 oder $2.'],
  [/^The file is not an? (.+) or (\w+) .*$/, 'Das ist kein Bild im Format $1 oder $2. Bitte wählen Sie ein anderes.'],
  [
    /^This image is damaged or incomplete\.$/,
    'Dieses Bild ist beschädigt oder unvollständig. Bitte wählen Sie ein anderes.',
  ],
  [
    /^This file takes too much time or memory to read\.$/,
    'Das Lesen dieser Datei dauert zu lange. Bitte teilen Sie sie auf.',
  ],
  [/^Please complete the settings first: (.+)\.$/, 'Bitte ergänzen Sie zuerst die Einstellungen: $1.'],
  [/^These placeholders do not exist: (.+)\.$/, 'Diese Platzhalter gibt es nicht: $1.'],
  [
    /^(\S+) is not an address on the public internet .*$/,
    'Das Portal darf $1 nicht aufrufen. Bitte wählen Sie eine öffentliche Adresse.',
  ],
  [/^(\S+) could not be reached\.$/, '$1 ist nicht erreichbar. Bitte prüfen Sie die Adresse.'],
  [/^(\S+) did not show a valid certificate\.$/, '$1 hat kein gültiges Zertifikat.'],
  [/^(\S+) did not answer in time\.$/, '$1 hat nicht rechtzeitig geantwortet. Bitte versuchen Sie es später erneut.'],
  [/^(\S+) sent a larger answer .*$/, 'Die Antwort von $1 ist zu groß.'],
  [/^(\S+) redirected too often\.$/, '$1 leitet zu oft weiter. Bitte geben Sie die endgültige Adresse an.'],
  [
    /^(\S+) sent an answer that cannot be read\.$/,
    'Die Antwort von $1 ist nicht lesbar. Bitte prüfen Sie die Adresse.',
  ],
];

const fieldPatterns: readonly Pattern[] = [
  [
    /^(?:must not be empty|must be given|must be entered|is required|is not set|is missing|must be set)$/,
    'Bitte ausfüllen.',
    'Please fill this in.',
  ],
  [/^must be given for a welcome mail$/, 'Für die Willkommensmail ist eine Adresse nötig.'],
  [/^must be given together with (\w+)$/, 'Bitte zusammen mit „$1“ angeben.'],
  [/^must be entered again\b.*$/, 'Bitte noch einmal eingeben.'],
  [/^must not contain control characters$/, 'Bitte ohne Steuerzeichen eingeben.'],
  [/^must be valid Unicode text$/, 'Der Text enthält ungültige Zeichen.'],
  [/^must not contain a username or password$/, 'Bitte ohne Benutzername und Passwort angeben.'],
  [/^must not contain blanks or special characters$/, 'Bitte ohne Leer- und Sonderzeichen eingeben.'],
  [
    /^holds a secret, which must not appear in an account$/,
    'Dieses Attribut enthält ein Geheimnis und darf in kein Konto übernommen werden.',
  ],
  [/^must not contain a colon$/, 'Bitte ohne Doppelpunkt eingeben.'],
  [/^must not (?:occur|appear) twice$/, 'Das kommt doppelt vor.'],
  [/^must lie in the future$/, 'Bitte einen Zeitpunkt in der Zukunft wählen.'],
  [/^must be later than from$/, 'Das Ende muss nach dem Anfang liegen.'],
  [/^must be at most (\d+) days later than from$/, 'Der Zeitraum darf höchstens $1 Tage lang sein.'],
  [/^must be a colou?r such as (\S+)$/, 'Bitte eine Farbe wie $1 angeben.'],
  [
    /^must be an https? or https address$|^must be an http or https address$/,
    'Bitte eine Adresse mit http:// oder https:// angeben.',
  ],
  [/^must be an https address$/, 'Bitte eine Adresse mit https:// angeben.'],
  [/^must be an https address without .*$/, 'Bitte eine https-Adresse ohne Pfad und Zugangsdaten angeben.'],
  [/^must be https:\/\/ with a host .*$/, 'Bitte https:// mit Servername und bei Bedarf Port angeben.'],
  [/^must be ldap:\/\/ or ldaps:\/\/ .*$/, 'Bitte ldap:// oder ldaps:// mit Servername und bei Bedarf Port angeben.'],
  [
    /^must be a host name or an IP address, without a port$/,
    'Bitte einen Servernamen oder eine IP-Adresse ohne Port angeben.',
  ],
  [/^must be the whole address$/, 'Bitte die vollständige Adresse angeben.'],
  [/^must be a name with its realm, such as (\S+)$/, 'Bitte mit Realm angeben, etwa $1.'],
  [/^must be a token with user and realm, such as (\S+)$/, 'Bitte mit Benutzer und Realm angeben, etwa $1.'],
  [/^must be an LDAP filter such as (.+)$/, 'Bitte einen LDAP-Filter wie $1 angeben.'],
  [/^must be a distinguished name such as (.+)$/, 'Bitte einen Namen (DN) wie $1 angeben.'],
  [/^must be the name of an attribute such as (\S+)$/, 'Bitte ein Attribut wie $1 angeben.'],
  [/^must be one or more certificates in PEM form .*$/, 'Bitte nur Zertifikate im PEM-Format einfügen.'],
  [/^must be a time zone such as (\S+)$/, 'Bitte eine Zeitzone wie $1 angeben.'],
  [/^must be a month such as (\S+)$/, 'Bitte einen Monat wie $1 angeben.'],
  [/^must be a day such as (\S+)$/, 'Bitte einen Tag wie $1 angeben.'],
  [/^must be a version such as (\S+)$/, 'Bitte eine Version wie $1 angeben.'],
  [/^must be (?:a whole number|an integer)$/, 'Bitte eine ganze Zahl eingeben.'],
  [/^must have (\d+) to (\d+) digits$|^must be (\d+) to (\d+) digits$/, 'Bitte $1$3 bis $2$4 Ziffern eingeben.'],
  [
    /^must be a personnel number of (\d+) to (\d+) digits$/,
    'Bitte eine Personalnummer mit $1 bis $2 Ziffern eingeben.',
  ],
  [/^must be an account number of (\d+) to (\d+) digits$/, 'Bitte eine Kontonummer mit $1 bis $2 Ziffern eingeben.'],
  [/^must not be longer than (\d+) characters$/, 'Höchstens $1 Zeichen sind möglich.'],
  [
    /^must not be longer than (\d+) words$|^must not contain more than (\d+) words$/,
    'Höchstens $1$2 Wörter sind möglich.',
  ],
  [/^must not be larger than (\d+) bytes$/, 'Die Datei ist zu groß.', 'The file is too large.'],
  [/^must be at most (\d+) files$/, 'Höchstens $1 Dateien sind möglich.'],
  [/^must be (?:a|one) file$/, 'Bitte eine Datei auswählen.', 'Please choose a file.'],
  [/^must be a PNG picture$/, 'Bitte ein PNG-Bild auswählen.'],
  [/^must be another category$/, 'Bitte eine andere Kategorie wählen.'],
  [/^contains no word that can be searched$/, 'Bitte mindestens ein Wort eingeben, nach dem sich suchen lässt.'],
  [/^needs filters that are not empty$/, 'Dafür muss mindestens ein Filter gesetzt sein.'],
  [/^\{\{(.*)\}\} is not a placeholder$/, 'Den Platzhalter {{$1}} gibt es nicht.'],
  [/^is not a valid date$/, 'Das ist kein gültiges Datum.'],
  [/^is not a valid amount$/, 'Das ist kein gültiger Betrag.'],

  // The words of the library that checks the requests
  [/^Invalid input: expected \w+, received (?:undefined|null)$/, 'Bitte ausfüllen.', 'Please fill this in.'],
  [/^Invalid input: expected (?:number|int), .*$/, 'Bitte eine Zahl eingeben.', 'Please enter a number.'],
  [
    /^Too (?:big|small): expected string to have exactly (\d+) characters$/,
    'Bitte genau $1 Zeichen eingeben.',
    'Please enter exactly $1 characters.',
  ],
  [
    /^Too big: expected string to have <=?(\d+) characters$/,
    'Höchstens $1 Zeichen sind möglich.',
    'At most $1 characters are possible.',
  ],
  [/^Too small: expected string to have >=?1 characters$/, 'Bitte ausfüllen.', 'Please fill this in.'],
  [
    /^Too small: expected string to have >=?(\d+) characters$/,
    'Mindestens $1 Zeichen sind nötig.',
    'At least $1 characters are needed.',
  ],
  [
    /^Too big: expected \w+ to have <=?(\d+) (?:items|elements)$/,
    'Höchstens $1 Einträge sind möglich.',
    'At most $1 entries are possible.',
  ],
  [
    /^Too small: expected \w+ to have >=?(\d+) (?:items|elements)$/,
    'Mindestens $1 Einträge sind nötig.',
    'At least $1 entries are needed.',
  ],
  [/^Too big: expected \w+ to be <=(\S+)$/, 'Höchstens $1 ist möglich.', 'At most $1 is possible.'],
  [/^Too big: expected \w+ to be <(\S+)$/, 'Der Wert muss kleiner als $1 sein.', 'The value must be less than $1.'],
  [/^Too small: expected \w+ to be >=(\S+)$/, 'Mindestens $1 ist nötig.', 'At least $1 is needed.'],
  [/^Too small: expected \w+ to be >(\S+)$/, 'Der Wert muss größer als $1 sein.', 'The value must be greater than $1.'],
  [
    /^Invalid number: must be a multiple of (\S+)$/,
    'Bitte ein Vielfaches von $1 eingeben.',
    'Please enter a multiple of $1.',
  ],
  [/^Invalid email address$/, 'Bitte eine gültige E-Mail-Adresse eingeben.', 'Please enter a valid e-mail address.'],
  [/^Invalid URL$/, 'Bitte eine gültige Adresse eingeben.', 'Please enter a valid address.'],
  [
    /^Invalid ISO (?:datetime|date|time)$/,
    'Bitte einen gültigen Zeitpunkt eingeben.',
    'Please enter a valid date and time.',
  ],
  [/^Invalid option: .*$/, 'Bitte einen der angebotenen Werte wählen.', 'Please choose one of the values on offer.'],
  [
    /^Invalid (?:input|string|value|UUID|discriminator)\b.*$/,
    'Diese Eingabe ist nicht gültig.',
    'This entry is not valid.',
  ],
];
