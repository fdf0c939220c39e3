import { language } from '../language.ts';

/** One sentence of a preview about an account, or a warning of a run, in the language of the page. */
export function syncWords(sentence: string): string {
  if (language.value === 'en') return sentence;
  for (const [says, german] of sentences) {
    const found = says.exec(sentence);
    if (found) return typeof german === 'string' ? sentence.replace(says, german) : german(found);
  }
  return sentence;
}

const fieldNames: Record<string, string> = {
  username: 'Benutzername',
  'e-mail': 'E-Mail-Adresse',
  'display name': 'Anzeigename',
  'first name': 'Vorname',
  'last name': 'Nachname',
  'place in the directory': 'Ort im Verzeichnis',
  'identity in the directory': 'Kennung im Verzeichnis',
};

const inGerman = (fields: string): string =>
  fields
    .split(', ')
    .map((field) => fieldNames[field] ?? field)
    .join(', ');

const reasons: readonly [says: string, german: string][] = [
  [
    'belongs to a local account, which a synchronization never takes over',
    'gehört einem lokalen Konto, und das übernimmt ein Abgleich nie',
  ],
  ['belongs to another account of the directory', 'gehört einem anderen Konto aus dem Verzeichnis'],
  ['is not available', 'ist nicht verfügbar'],
  ['occurs more than once in the directory', 'kommt im Verzeichnis mehrfach vor'],
];

const reason = (says = ''): string => reasons.find(([known]) => known === says)?.[1] ?? says;

const sentences: readonly [says: RegExp, german: string | ((found: RegExpExecArray) => string)][] = [
  [/^Gets an account\.$/, 'Bekommt ein Konto.'],
  [/^Changes (.+)\.$/, ([, fields = '']) => `Ändert sich: ${inGerman(fields)}.`],
  [
    /^Is switched on again\.(?: Changes (.+)\.)?$/,
    ([, fields]) => `Wird wieder aktiv.${fields ? ` Ändert sich: ${inGerman(fields)}.` : ''}`,
  ],
  [/^Is switched off: it is on the exclude list\.$/, 'Wird deaktiviert: steht auf der Ausschlussliste.'],
  [/^Is switched off: the directory no longer .*$/, 'Wird deaktiviert: gehört nicht mehr zur Auswahl im Verzeichnis.'],
  [
    /^The account (“.+”) was left as it is: it is a SUPER_ADMIN.*$/,
    'Das Konto $1 blieb unverändert: Einen SUPER_ADMIN ändert ein Abgleich nie.',
  ],
  [/^(“.+”) of the directory has no usable username .*$/, '$1 wurde übersprungen: Ein brauchbarer Benutzername fehlt.'],
  [
    /^An entry of the directory has no usable .*$/,
    'Ein Eintrag wurde übersprungen: Ein brauchbarer Benutzername fehlt.',
  ],
  [
    /^The account (“.+”) keeps its username: the directory no longer .*$/,
    'Das Konto $1 behält seinen Benutzernamen: Im Verzeichnis steht kein brauchbarer mehr.',
  ],
  [
    /^A person was skipped: the username (“.+”) (.+)\.$/,
    ([, name, why]) => `Eine Person wurde übersprungen: Der Benutzername ${name} ${reason(why)}.`,
  ],
  [
    /^The account (“.+?”) keeps its username: the username (“.+”) (.+)\.$/,
    ([, account, name, why]) => `Das Konto ${account} behält seinen Benutzernamen: ${name} ${reason(why)}.`,
  ],
  [/^The address of (“.+”) is not a valid .*$/, 'Die Adresse von $1 ist keine gültige E-Mail-Adresse und blieb leer.'],
  [
    /^The e-mail address of (“.+”) is taken by .*$/,
    'Die E-Mail-Adresse von $1 gehört einem anderen Konto und blieb leer.',
  ],
  [/^Entry (\d+) of the include list does not exist .*$/, 'Eintrag $1 der Auswahl gibt es im Verzeichnis nicht.'],
  [
    /^Groups outside the base have too many .* only (\d+) .*$/,
    'Gruppen außerhalb der Basis haben zu viele Mitglieder außerhalb. Nur $1 davon wurden gelesen.',
  ],
  [/^There were (\d+) more warnings\.$/, 'Dazu kommen $1 weitere Hinweise.'],
];
