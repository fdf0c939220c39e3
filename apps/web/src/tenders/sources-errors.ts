import { language } from '../language.ts';
import { imapSentence } from '../ui/imap-failure.tsx';

/** Why a source could not be read, in the language of the page if the sentence of the service is known. */
export function sourceErrorText(error: string): string {
  if (language.value === 'en') return error;
  const ofMailbox = imapSentence(error);
  if (ofMailbox !== null) return ofMailbox;
  const [says, words] = german.find(([one]) => one.test(error)) ?? [];
  return says && words ? error.replace(says, words) : `Meldung des Portals: „${error}“`;
}

const german: readonly [says: RegExp, words: string][] = [
  [
    /^(\S+) reported that this address no longer exists \(410\)\.$/,
    '$1 meldet, dass es diese Adresse nicht mehr gibt.',
  ],
  [/^(\S+) found nothing at this address \(404\)\.$/, 'Unter dieser Adresse findet $1 nichts. Bitte prüfen Sie sie.'],
  [
    /^(\S+) received too many requests \(429\)\.$/,
    '$1 wird zu oft gefragt. Das Portal wartet und fragt später wieder.',
  ],
  [/^(\S+) denied access \((\d+)\)\.$/, '$1 verweigert den Zugriff ($2).'],
  [/^(\S+) reported an error \((\d+)\)\.$/, '$1 meldet einen Fehler ($2). Das Portal versucht es später erneut.'],
  [/^(\S+) sent an unexpected answer \((\d+)\)\.$/, '$1 antwortet anders als erwartet ($2).'],
  [
    /^(\S+) has no address: DNS does not know this name\.$/,
    '$1 ist nicht zu finden. Bitte prüfen Sie die Schreibweise.',
  ],
  [/^(\S+) refuses connections on this port\.$/, '$1 nimmt keine Verbindungen an.'],
  [/^(\S+) broke off the connection\.$/, '$1 hat die Verbindung abgebrochen.'],
  [/^(\S+) did not accept a connection in time\.$/, '$1 antwortet nicht rechtzeitig.'],
  [/^(\S+) cannot be reached from here: .*$/, '$1 ist aus diesem Netz nicht erreichbar.'],
  [
    /^(\S+) is not at an address that the portal may call\.$/,
    '$1 liegt an einer Adresse, die das Portal nicht aufrufen darf.',
  ],
  [/^(\S+) does not speak TLS on this port\.$/, '$1 bietet an diesem Port keine Verschlüsselung.'],
  [/^(\S+) showed a certificate that .*$/, 'Das Zertifikat von $1 ist ungültig.'],
  [/^(\S+) redirected too often\.$/, '$1 leitet zu oft weiter.'],
  [/^(\S+) sent a redirect without a valid address\.$/, '$1 leitet an eine ungültige Adresse weiter.'],
  [/^The feed is not a feed in RSS, Atom or RDF format\.$/, 'Die Adresse liefert keinen Feed (RSS, Atom oder RDF).'],
  [/^The address of this feed is not valid\.$/, 'Die Adresse dieses Feeds ist ungültig.'],
  [/^(?:One item was|(\d+) items were) left out: .*$/, 'Einzelne Einträge waren nicht lesbar und fehlen.'],
  [
    /^More than ([\d,.]+) new entries came within 24 hours: .*$/,
    'Mehr als $1 neue Einträge an einem Tag; der Rest folgt später.',
  ],
  [
    /^Something went wrong while this source was read\. .*$/,
    'Beim Lesen ist ein unerwarteter Fehler aufgetreten. Das Protokoll des Servers nennt die Ursache.',
  ],
];
