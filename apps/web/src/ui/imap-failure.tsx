import type { ImapTest } from '@portal/client/interface';
import { language } from '../language.ts';
import { certificateSentences, matchSentence, type Sentence } from '../mail-settings/server-sentences.ts';
import { texts } from './imap-texts.ts';
import { Status } from './status.tsx';

type ImapFailureKind = NonNullable<ImapTest['error']>;

/** How the test of a mailbox went, and what to do if it failed. */
export function ImapTestResult({ result: { ok, error, message } }: { result: ImapTest }) {
  if (ok || error === null) return <Status kind="ok">{texts.value.works}</Status>;
  return <ImapFailure kind={error} message={message} />;
}

/** Why a mailbox could not be read, and what to do. `message` is the sentence of the service, if there is one. */
export function ImapFailure({ kind, message }: { kind: ImapFailureKind; message?: string | undefined }) {
  const t = texts.value;
  return (
    <>
      <Status kind="error">
        <strong>{t.failures[kind]}</strong>
      </Status>
      <p>
        {message && <>{wordsOf(message)} </>}
        {t.advice[kind]}
      </p>
    </>
  );
}

/** The sentence of the service in the language of the page; null if it is not known. */
export const imapSentence = (message: string): string | null => matchSentence(message, sentences)?.text ?? null;

const wordsOf = (message: string): string | null => imapSentence(message) ?? (language.value === 'en' ? message : null);

const after = (about: string) => new RegExp(`^The mail server (\\S+) ${about}$`);

const sentences: readonly Sentence<ImapFailureKind>[] = [
  [after('could not be found; .*'), 'unreachable', '$1 ist nicht zu finden.'],
  [after('accepts no connections; .*'), 'unreachable', '$1 nimmt keine Verbindungen an.'],
  [after('cannot be reached from this network\\.'), 'unreachable', '$1 ist aus diesem Netz nicht erreichbar.'],
  [after('did not accept a connection in time\\.'), 'unreachable', '$1 nimmt keine Verbindung an.'],
  [
    after('is not at an address that the portal may call\\.'),
    'unreachable',
    '$1 liegt an einer Adresse, die das Portal nicht aufrufen darf.',
  ],
  [after('broke off the connection\\.'), 'unreachable', '$1 hat die Verbindung abgebrochen.'],
  [after('cannot check passwords .*'), 'unreachable', '$1 kann Passwörter gerade nicht prüfen.'],
  ...certificateSentences('The mail server (\\S+)', '$1'),
  [after('did not accept the user name .*'), 'unauthorized', '$1 hat Benutzername oder Passwort abgelehnt.'],
  [after('was not asked, .*'), 'unauthorized', 'Für $1 ist kein Passwort gespeichert.'],
  [after('has no folder (.+) to move mails to\\.'), 'folderMissing', '$1 hat keinen Ordner „$2“ zum Verschieben.'],
  [after('has no such folder, .*'), 'folderMissing', '$1 hat keinen solchen Ordner oder zeigt ihn nicht.'],
  [after('did not answer in time\\.'), 'timeout', '$1 hat nicht rechtzeitig geantwortet.'],
  [after('did not answer within (\\d+) seconds\\.'), 'timeout', '$1 hat in $2 Sekunden nicht geantwortet.'],
  [after('could not agree on encryption .*'), 'protocol', 'Mit $1 kam keine Verschlüsselung zustande.'],
  [after('did not answer like a mail server\\.'), 'protocol', '$1 antwortet nicht wie ein Mailserver.'],
  [after('sends more data .*'), 'protocol', '$1 sendet mehr Daten als verlangt.'],
  [after('does not assign .*'), 'protocol', '$1 vergibt keine festen Nummern für Mails.'],
];
