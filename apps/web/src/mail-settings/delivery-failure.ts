import { language } from '../language.ts';
import { certificateSentences, matchSentence, type Sentence } from './server-sentences.ts';

type DeliveryFailureKind =
  | 'connect'
  | 'timeout'
  | 'certificate'
  | 'auth'
  | 'recipient'
  | 'rejected'
  | 'temporary'
  | 'protocol'
  | 'quota'
  | 'other';

interface DeliveryFailure {
  kind: DeliveryFailureKind;
  text: string;
  /** What the mail server said itself. */
  answer: string | null;
}

const answered = ' The server answered: "';

/** Why a mail was not sent, from the sentence of the service. */
export function deliveryFailure(message: string): DeliveryFailure {
  const [sentence = message, ...rest] = message.split(answered);
  const answer = rest.length > 0 ? rest.join(answered).replace(/"$/, '') : null;
  const found = matchSentence(sentence, sentences);
  return { ...(found ?? { kind: 'other', text: unknownSentence(sentence) }), answer };
}

const unknownSentence = (sentence: string): string =>
  language.value === 'en' ? sentence : `Meldung des Portals: „${sentence}“`;

const after = (about: string) => new RegExp(`^The mail server (\\S+) ${about}$`);

const sentences: readonly Sentence<Exclude<DeliveryFailureKind, 'other'>>[] = [
  [after('accepts no connections; .*'), 'connect', '$1 nimmt keine Verbindungen an. Bitte prüfen Sie Server und Port.'],
  [after('could not be found; .*'), 'connect', '$1 ist nicht zu finden. Bitte prüfen Sie die Schreibweise.'],
  [
    after('is not at an address .*'),
    'connect',
    '$1 liegt an einer Adresse, die das Portal nicht aufrufen darf. Der Betrieb des Portals kann sie freigeben.',
  ],
  [after('cannot be reached from this network\\.'), 'connect', '$1 ist aus diesem Netz nicht erreichbar.'],
  [
    after('broke off the connection\\.'),
    'connect',
    '$1 hat die Verbindung abgebrochen. Bitte prüfen Sie Port und Verschlüsselung.',
  ],
  [
    after('did not answer in time\\. Port 465 .*'),
    'timeout',
    '$1 hat nicht rechtzeitig geantwortet. Port 465 erwartet meist TLS.',
  ],
  [after('did not answer in time\\.'), 'timeout', '$1 hat nicht rechtzeitig geantwortet. Bitte prüfen Sie den Port.'],
  ...certificateSentences('The mail server (\\S+)', '$1'),
  [
    after('does not allow signing in without .*'),
    'auth',
    '$1 erlaubt die Anmeldung nur verschlüsselt. Bitte wählen Sie STARTTLS oder TLS.',
  ],
  [after('requires a user name .*'), 'auth', '$1 verlangt Benutzername und Passwort.'],
  [after('needs a password .*'), 'auth', 'Zu diesem Benutzernamen fehlt das Passwort.'],
  [
    after('does not offer signing in .* choose .*'),
    'auth',
    '$1 bietet so keine Anmeldung an. Bitte wählen Sie STARTTLS oder TLS, oder lassen Sie den Benutzernamen leer.',
  ],
  [
    after('does not offer signing in .*'),
    'auth',
    '$1 bietet so keine Anmeldung an. Bitte lassen Sie den Benutzernamen leer.',
  ],
  [
    after('did not accept the user name .*'),
    'auth',
    '$1 hat Benutzername oder Passwort abgelehnt. Prüfen Sie beides, bevor Sie es wieder versuchen: Viele Server sperren Konten nach einigen Fehlversuchen.',
  ],
  [after('does not accept mail for .*'), 'recipient', '$1 nimmt für diese Empfängeradresse keine Mails an.'],
  [
    after('cannot take this recipient .*'),
    'recipient',
    '$1 kann mit der Empfänger- oder Absenderadresse nichts anfangen.',
  ],
  [
    after('does not accept this sender .*'),
    'rejected',
    '$1 lehnt die Absenderadresse ab. Meist muss sie zum angemeldeten Konto passen.',
  ],
  [after('refused the message\\.'), 'rejected', '$1 hat die Nachricht abgelehnt.'],
  [
    after('refuses to talk .*'),
    'rejected',
    '$1 spricht nicht mit dem Portal. Oft muss dessen Adresse dort erst freigegeben werden.',
  ],
  [after('does not accept messages .*'), 'rejected', '$1 nimmt Nachrichten dieser Größe nicht an.'],
  [
    after('cannot take the mail right now\\.'),
    'temporary',
    '$1 nimmt die Mail gerade nicht an. Bitte versuchen Sie es später erneut.',
  ],
  [
    after('does not offer STARTTLS; .*'),
    'protocol',
    '$1 bietet kein STARTTLS an. Bitte wählen Sie TLS oder einen anderen Port.',
  ],
  [
    after('could not agree on encryption .* STARTTLS.*'),
    'protocol',
    'Mit $1 kam keine Verschlüsselung zustande. Bitte versuchen Sie STARTTLS oder Port 465.',
  ],
  [
    after('could not agree on encryption .*'),
    'protocol',
    'Mit $1 kam keine Verschlüsselung zustande. Bitte versuchen Sie TLS oder einen anderen Port.',
  ],
  [
    after('does not answer like a mail server; .*'),
    'protocol',
    '$1 antwortet nicht wie ein Mailserver. Bitte prüfen Sie den Port.',
  ],
  [
    /^This organization may send (\d+) mails a day .*$/,
    'quota',
    'Die $1 Mails, die Ihre Organisation am Tag über den Mailserver des Portals senden darf, sind aufgebraucht. Richten Sie einen eigenen Mailserver ein oder warten Sie bis morgen.',
  ],
  [
    /^This account has already received its (\d+) mails .*$/,
    'quota',
    'Dieses Konto hat heute schon $1 Mails dieser Art erhalten. Bitte versuchen Sie es morgen erneut.',
  ],
  [/^No mail server is configured\.$/, 'connect', 'Es ist kein Mailserver eingerichtet.'],
  [
    /^The mail is still on its way\.$/,
    'temporary',
    'Die Mail ist noch unterwegs. Sie kann in den nächsten Minuten ankommen.',
  ],
];
