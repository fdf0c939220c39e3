/** What the service says of a cloud, and the German for it: one pattern for each sentence, whose groups are names and numbers. */
const sentences: readonly [pattern: RegExp, words: (name: string) => string][] = [
  [
    /^The answer is not a status document but something else, such as a web page\.$/,
    () => 'Die Antwort ist kein Statusdokument, sondern etwas anderes, zum Beispiel eine Webseite.',
  ],
  [/^The cloud says that it is not installed\.$/, () => 'Die Cloud meldet, dass sie nicht installiert ist.'],
  [
    /^The answer is JSON, but not the status of a cloud\.$/,
    () => 'Die Antwort ist JSON, aber nicht der Zustand einer Cloud.',
  ],
  [
    /^The host in this address is missing from the cloud’s list of trusted domains\.$/,
    () => 'Der Host dieser Adresse fehlt in der Liste vertrauenswürdiger Domains der Cloud.',
  ],
  [/^The status document requires a sign-in \(401\)\.$/, () => 'Das Statusdokument verlangt eine Anmeldung (401).'],
  [
    /^Access to the status document is denied \(403\)\.$/,
    () => 'Der Zugriff auf das Statusdokument wird verweigert (403).',
  ],
  [
    /^There is no status document at this address \(404\)\. Is the folder/,
    () => 'Unter dieser Adresse gibt es kein Statusdokument (404). Fehlt der Ordner, in dem die Cloud installiert ist?',
  ],
  [
    /^The server of the cloud reported an error \((\d+)\)\.$/,
    (status) => `Der Server der Cloud meldet einen Fehler (${status}).`,
  ],
  [/^The answer is not the one expected \((\d+)\)\.$/, (status) => `Die Antwort ist nicht die erwartete (${status}).`],
  [
    /^The address redirects to another place: (.+)\.$/,
    (place) => `Die Adresse leitet an eine andere Stelle weiter: ${place}.`,
  ],
  [/^The cloud is in maintenance\.$/, () => 'Die Cloud ist im Wartungsmodus.'],
  [/^The cloud has extended support\.$/, () => 'Die Cloud hat erweiterten Support.'],
  [/^The address redirects to (\S+)\.$/, (place) => `Die Adresse leitet weiter an ${place}.`],
  [/^(\S+) has no address: DNS/, (host) => `${host} hat keine Adresse: Das DNS kennt diesen Namen nicht.`],
  [/^(\S+) refuses connections on this port\.$/, (host) => `${host} nimmt auf diesem Port keine Verbindungen an.`],
  [/^(\S+) broke off the connection\.$/, (host) => `${host} hat die Verbindung abgebrochen.`],
  [
    /^(\S+) did not accept a connection in time\.$/,
    (host) => `${host} hat nicht rechtzeitig eine Verbindung angenommen.`,
  ],
  [
    /^(\S+) cannot be reached from here/,
    (host) => `${host} ist von hier aus nicht erreichbar: Es führt kein Weg im Netz dorthin.`,
  ],
  [/^(\S+) could not be reached\.$/, (host) => `${host} war nicht erreichbar.`],
  [/^(\S+) did not answer in time\.$/, (host) => `${host} hat nicht rechtzeitig geantwortet.`],
  [/^(\S+) does not speak TLS on this port\.$/, (host) => `${host} spricht auf diesem Port kein TLS.`],
  [
    /^(\S+) is not (?:at )?an address .*may call\.$/,
    (host) => `${host} hat keine Adresse, die das Portal aufrufen darf.`,
  ],
  [/^(\S+) did not show a valid certificate\.$/, (host) => `${host} hat kein gültiges Zertifikat gezeigt.`],
  [/^(\S+) showed a certificate that has expired\.$/, (host) => `Das Zertifikat von ${host} ist abgelaufen.`],
  [/^(\S+) showed a certificate that is not valid yet\.$/, (host) => `Das Zertifikat von ${host} gilt noch nicht.`],
  [
    /^(\S+) showed a certificate that was issued for another name\.$/,
    (host) => `Das Zertifikat von ${host} gilt für einen anderen Namen.`,
  ],
  [/^(\S+) showed a certificate that has been revoked\.$/, (host) => `Das Zertifikat von ${host} ist widerrufen.`],
  [/^(\S+) showed a certificate that is self-signed\.$/, (host) => `Das Zertifikat von ${host} ist selbst signiert.`],
  [
    /^(\S+) showed a certificate that does not come from an authority/,
    (host) => `Das Zertifikat von ${host} kommt von keiner Stelle, der das Portal vertraut.`,
  ],
  [/^(\S+) showed a certificate that is not valid\.$/, (host) => `Das Zertifikat von ${host} ist ungültig.`],
  [
    /^(\S+) sent a larger answer than the portal accepts\.$/,
    (host) => `${host} hat eine größere Antwort geschickt, als das Portal annimmt.`,
  ],
  [/^(\S+) redirected too often\.$/, (host) => `${host} hat zu oft weitergeleitet.`],
  [/^(\S+) sent an answer that cannot be read\.$/, (host) => `${host} hat eine unlesbare Antwort geschickt.`],
];

/** The German for a sentence of the service; null if the page has none. */
export function germanReason(sentence: string): string | null {
  for (const [pattern, words] of sentences) {
    const found = pattern.exec(sentence);
    if (found) return words(found[1] ?? '');
  }
  return null;
}
