import { language } from '../language.ts';
import { certificateSentences, matchSentence, type Sentence } from '../mail-settings/server-sentences.ts';
import { runErrorText } from '../operations/run-outcome.ts';

type DirectoryFailureKind =
  | 'unreachable'
  | 'credentials'
  | 'certificate'
  | 'baseDn'
  | 'timeout'
  | 'protocol'
  | 'size'
  | 'brake'
  | 'other';

/** Why the directory could not be read, or a synchronization changed nothing, from the sentence of the service. */
export function directoryFailure(message: string): { kind: DirectoryFailureKind; text: string } {
  // How to force it, the page says.
  const sentence = message.replace(/ Nothing was changed\. If this is intended, .*$/, '');
  return matchSentence(sentence, sentences) ?? { kind: 'other', text: otherSentence(sentence) };
}

function otherSentence(message: string): string {
  const text = runErrorText(message);
  return language.value === 'en' || text !== message ? text : `Meldung des Portals: „${message}“`;
}

const after = (about: string) => new RegExp(`^The directory server (\\S+) ${about}$`);

const sentences: readonly Sentence<Exclude<DirectoryFailureKind, 'other'>>[] = [
  [
    after('accepts no connections; .*'),
    'unreachable',
    '$1 nimmt keine Verbindungen an. Bitte prüfen Sie Server und Port.',
  ],
  [after('could not be found; .*'), 'unreachable', '$1 ist nicht zu finden. Bitte prüfen Sie die Schreibweise.'],
  [
    after('is not at an address .*'),
    'unreachable',
    '$1 liegt an einer Adresse, die das Portal nicht aufrufen darf. Der Betrieb des Portals kann sie freigeben.',
  ],
  [after('cannot be reached from this network\\.'), 'unreachable', '$1 ist aus diesem Netz nicht erreichbar.'],
  [after('broke off the connection.*'), 'unreachable', '$1 hat die Verbindung abgebrochen. Bitte prüfen Sie den Port.'],
  [after('is too busy .*'), 'unreachable', '$1 ist gerade überlastet. Bitte versuchen Sie es später erneut.'],
  [after('did not answer .*'), 'timeout', '$1 hat nicht rechtzeitig geantwortet.'],
  [after('stopped the search .*'), 'timeout', '$1 hat die Suche wegen seiner Zeitgrenze abgebrochen.'],
  [
    after('needs more than (\\d+) seconds .*'),
    'timeout',
    '$1 lässt sich nicht in $2 Sekunden ganz lesen. Ein Abgleich hat dafür mehr Zeit.',
  ],
  [
    /^The directory could not be read completely within (\d+) minutes\.$/,
    'timeout',
    'Das Verzeichnis ließ sich nicht in $1 Minuten ganz lesen.',
  ],
  ...certificateSentences('The directory server (\\S+)', '$1'),
  [
    after('does not allow anonymous .*'),
    'credentials',
    '$1 erlaubt keinen anonymen Zugriff. Bitte geben Sie Bind-DN und Passwort an.',
  ],
  [after('did not accept the bind DN .*'), 'credentials', '$1 hat Bind-DN oder Passwort abgelehnt.'],
  [
    after('does not let the bind account sign in at .*'),
    'credentials',
    '$1 lässt das Bind-Konto zu dieser Zeit nicht zu.',
  ],
  [
    after('does not let the bind account sign in from .*'),
    'credentials',
    '$1 lässt das Bind-Konto vom Portal aus nicht zu.',
  ],
  [
    after('says that the password .* expired\\.'),
    'credentials',
    'Das Passwort des Bind-Kontos ist laut $1 abgelaufen.',
  ],
  [after('says that the bind account is disabled\\.'), 'credentials', 'Das Bind-Konto ist laut $1 deaktiviert.'],
  [after('says that the bind account has expired\\.'), 'credentials', 'Das Bind-Konto ist laut $1 abgelaufen.'],
  [
    after('says that the bind account must .*'),
    'credentials',
    'Das Bind-Konto muss laut $1 zuerst sein Passwort ändern.',
  ],
  [after('says that the bind account is locked\\.'), 'credentials', 'Das Bind-Konto ist laut $1 gesperrt.'],
  [
    after('does not let the bind account read .*'),
    'credentials',
    '$1 lässt das Bind-Konto diesen Teil des Verzeichnisses nicht lesen.',
  ],
  [after('does not allow sign-in with .*'), 'credentials', '$1 erlaubt keine Anmeldung mit DN und Passwort.'],
  [
    after('was not asked, because the stored .*'),
    'credentials',
    'Das gespeicherte Bind-Passwort ist nicht mehr lesbar. Bitte geben Sie es neu ein.',
  ],
  [
    after('has no entry at the base DN.*'),
    'baseDn',
    '$1 hat an der Basis-DN keinen Eintrag oder zeigt ihn dem Bind-Konto nicht.',
  ],
  [after('says that the base DN .*'), 'baseDn', 'Die Basis-DN ist laut $1 ungültig.'],
  [
    after('leaves a part of the base DN, such .*'),
    'baseDn',
    '$1 überlässt einen Teil der Basis, etwa eine Unterdomäne, einem anderen Server. Bitte wählen Sie eine Basis innerhalb einer Domäne oder den globalen Katalog (Port 3268 oder 3269).',
  ],
  [
    after('leaves a part of the base DN .*'),
    'baseDn',
    '$1 überlässt einen Teil der Basis einem anderen Server. Bitte wählen Sie eine Basis, die er ganz enthält.',
  ],
  [
    after('refers to another server .*'),
    'baseDn',
    '$1 verweist für diese Basis auf einen anderen Server. Bitte tragen Sie diesen ein.',
  ],
  [
    after('requires an encrypted connection; .*'),
    'protocol',
    '$1 verlangt eine verschlüsselte Verbindung. Bitte wählen Sie StartTLS oder ldaps://.',
  ],
  [
    after('could not agree on encryption .*'),
    'protocol',
    'Mit $1 kam keine Verschlüsselung zustande. Bitte prüfen Sie den Port.',
  ],
  [
    after('answers with something that is not LDAP; .*'),
    'protocol',
    '$1 antwortet nicht wie ein Verzeichnisserver. Bitte prüfen Sie den Port.',
  ],
  [
    after('cut off the answer at its size limit; .*'),
    'size',
    '$1 kürzt die Antwort an seiner Größengrenze. Bitte heben Sie die Grenzen für das Bind-Konto an.',
  ],
  [after('sends a larger entry .*'), 'size', '$1 schickt einen Eintrag, der zu groß ist.'],
  [
    /^The directory has more people, groups .*$/,
    'size',
    'Das Verzeichnis enthält mehr Personen, Gruppen und Mitglieder, als sich auf einmal lesen lassen. Ein Abgleich darf mehr Speicher belegen als eine Vorschau.',
  ],
  [
    after('changed a group while .*'),
    'protocol',
    'Während des Lesens hat sich auf $1 eine Gruppe geändert. Bitte versuchen Sie es erneut.',
  ],
  [
    after('(?:could not carry out|refused) the request \\((.*)\\)\\.'),
    'protocol',
    '$1 hat die Anfrage nicht ausgeführt ($2).',
  ],
  [after('does not support a function .*'), 'protocol', '$1 fehlt eine Funktion, die das Portal braucht.'],
  [after('sends pages without end\\.'), 'protocol', '$1 schickt Seiten ohne Ende.'],
  [
    /^The directory returned no people, so all (\d+) accounts .*$/,
    'brake',
    'Das Verzeichnis lieferte keine einzige Person. Alle $1 Konten daraus würden deaktiviert.',
  ],
  [
    /^(\d+) of (\d+) accounts that came from the directory .*$/,
    'brake',
    '$1 von $2 Konten aus dem Verzeichnis würden deaktiviert.',
  ],
  [
    /^(\d+) of (\d+) groups that came from the directory .*$/,
    'brake',
    '$1 von $2 Gruppen aus dem Verzeichnis würden entfernt, samt allen Freigaben.',
  ],
];
