import { catalogue } from '../language.ts';

/** Words of the form of a server, of its test, and of what to do about failures. */
export const texts = catalogue({
  de: {
    addTitle: 'Server hinzufügen',
    settings: 'Einstellungen des Servers',
    kind: 'Art',
    name: 'Name',
    nameHint: 'So heißt der Server im Portal.',
    address: 'Adresse',
    addressHint: (port: number) => `Zum Beispiel https://pve1.example.org. Ohne Port gilt ${port}.`,
    access: 'Zugang',
    accessHint: 'Das Portal liest nur. Geben Sie ihm ein eigenes Konto mit Leserechten.',
    authMethod: 'Anmeldung',
    methods: { token: 'API-Token', password: 'Benutzer und Passwort' },
    tokenRecommended: 'Empfohlen: Ein Token lässt sich einzeln zurückziehen und braucht keinen zweiten Faktor.',
    gatewayPassword: 'Mailgateways kennen keine API-Tokens, deshalb meldet sich das Portal mit Passwort an.',
    tokenId: 'Token-ID',
    tokenIdHint: 'Benutzer, Realm und Name, zum Beispiel portal@pve!monitoring',
    tokenSecret: 'Token-Secret',
    tokenSecretHint: 'Sie können auch Token-ID und Secret zusammen einfügen, wie der Server sie zeigt.',
    username: 'Benutzer',
    usernameHint: (realm: string) => `Mit Realm, zum Beispiel portal@${realm}`,
    password: 'Passwort',
    verifyTls: 'Zertifikat prüfen',
    verifyOff:
      'Ohne Prüfung kann sich jeder im Netz als dieser Server ausgeben und die Zugangsdaten mitlesen. Tragen Sie besser das CA-Zertifikat ein.',
    ca: 'CA-Zertifikat (PEM)',
    caHint: 'Nur nötig, wenn der Server ein selbst ausgestelltes Zertifikat hat.',
    caFile: 'CA-Zertifikat als Datei',
    pollIntervalMin: 'Abfrage alle … Minuten',
    pollIntervalHint: '1 bis 1440. Das kleinste Intervall aller aktiven Server gilt für alle.',
    isActive: 'Wird geprüft',
    isActiveHint: 'Abgeschaltete Server bleiben mit ihren Daten erhalten.',
    yes: 'Ja',
    no: 'Nein',
    newSecret: 'neu eingegeben',
    test: 'Verbindung testen',
    saved: (name: string) => `„${name}“ ist gespeichert. Die nächste Prüfung beginnt innerhalb einer Minute.`,
    savedOff: (name: string) => `„${name}“ ist gespeichert.`,
    testing: 'Der Server wird gefragt. Das dauert höchstens 20 Sekunden.',
    testOk: (version: string | null) =>
      version === null
        ? 'Die Verbindung steht, alles Nötige ist lesbar.'
        : `Die Verbindung steht, alles Nötige ist lesbar. Version ${version}`,
    testOld: 'Die Eingaben haben sich seit diesem Test geändert.',
    said: 'Im Einzelnen:',

    failures: {
      zugang: 'Die Anmeldung wurde abgelehnt',
      rechte: 'Dem Konto fehlen Rechte',
      antwortform: 'Der Server antwortet anders als erwartet',
      server: 'Der Server meldet einen Fehler',
      netz: 'Der Server ist nicht erreichbar',
      zertifikat: 'Das Zertifikat des Servers ist nicht gültig',
    },
    advice: {
      zugang: {
        token:
          'Prüfen Sie Token-ID und Secret, ob das Token abgelaufen ist und ob Benutzer und Token aktiv sind. Der Server zeigt das Secret nur einmal. Legen Sie im Zweifel ein neues Token an.',
        password:
          'Prüfen Sie Benutzer, Realm und Passwort. Das Konto darf keinen zweiten Faktor haben. Viele Server sperren nach mehreren Fehlversuchen.',
      },
      antwortform:
        'Prüfen Sie Adresse, Port und Art des Servers. Vielleicht antwortet dort ein anderes Programm oder ein Proxy.',
      server: 'Sehen Sie in das Protokoll des Servers. Bleibt der Fehler, starten Sie dort den API-Dienst neu.',
      netz: 'Prüfen Sie Adresse und Port, ob der Server läuft und ob die Firewall Verbindungen vom Portal zulässt.',
      zertifikat:
        'Tragen Sie das CA-Zertifikat des Servers ein, oder geben Sie ihm ein gültiges Zertifikat. Die Adresse muss den Namen nennen, auf den es ausgestellt ist.',
    },
    caWhere: {
      virtualization: 'Das CA-Zertifikat liegt auf dem Server in:',
      backup: 'Das Zertifikat liegt auf dem Server in:',
      'mail-gateway': 'Das Zertifikat liegt auf dem Server in:',
    },
    rights: {
      virtualization: {
        text: 'Geben Sie Benutzer und Token die Rolle PVEAuditor auf „/“. Bei einem Token mit getrennten Rechten brauchen beide die Rolle. Auf einem Knoten geht das so:',
        more: 'Ausstehende Updates und den Inhalt von Backupspeichern kann ein Konto mit dieser Rolle nicht lesen. Das Portal kommt ohne sie aus.',
      },
      backup: {
        text: 'Geben Sie Benutzer und Token die Rolle Audit auf „/“ und für Synchronisierungen die Rolle RemoteAudit auf „/remote“. Auf dem Server geht das so:',
        more: 'Das Recht Datastore.Audit ist in Audit enthalten. Wer es nur für einen Datastore hat, sieht nur diesen.',
      },
      'mail-gateway': {
        text: 'Geben Sie dem Benutzer in der Oberfläche des Mailgateways unter „Configuration › User Management“ die Rolle Auditor.',
        more: 'Die Rollen „Quarantine Manager“ und „Help Desk“ genügen nicht.',
      },
    },
  },
  en: {
    addTitle: 'Add server',
    settings: 'Settings of the server',
    kind: 'Kind',
    name: 'Name',
    nameHint: 'What the server is called in the portal.',
    address: 'Address',
    addressHint: (port: number) => `Such as https://pve1.example.org. Without a port, ${port} is used.`,
    access: 'Access',
    accessHint: 'The portal only reads. Give it an account of its own with rights to read.',
    authMethod: 'Sign-in',
    methods: { token: 'API token', password: 'User and password' },
    tokenRecommended: 'Recommended: a token can be withdrawn by itself and needs no second factor.',
    gatewayPassword: 'Mail gateways have no API tokens, so the portal signs in with a password.',
    tokenId: 'Token ID',
    tokenIdHint: 'User, realm and name, such as portal@pve!monitoring',
    tokenSecret: 'Token secret',
    tokenSecretHint: 'You can also paste token ID and secret together, as the server shows them.',
    username: 'User',
    usernameHint: (realm: string) => `With the realm, such as portal@${realm}`,
    password: 'Password',
    verifyTls: 'Verify certificate',
    verifyOff:
      'Without verification, anybody in the network can pose as this server and read the credentials. Better enter its CA certificate.',
    ca: 'CA certificate (PEM)',
    caHint: 'Only needed if the server has a certificate that it issued itself.',
    caFile: 'CA certificate as a file',
    pollIntervalMin: 'Check every … minutes',
    pollIntervalHint: '1 to 1440. The smallest interval of all active servers applies to all.',
    isActive: 'Is checked',
    isActiveHint: 'Servers that are switched off keep their data.',
    yes: 'Yes',
    no: 'No',
    newSecret: 'newly entered',
    test: 'Test connection',
    saved: (name: string) => `“${name}” is saved. The next check starts within a minute.`,
    savedOff: (name: string) => `“${name}” is saved.`,
    testing: 'Asking the server. This takes 20 seconds at most.',
    testOk: (version: string | null) =>
      version === null
        ? 'The connection works, and everything needed can be read.'
        : `The connection works, and everything needed can be read. Version ${version}`,
    testOld: 'The entries have changed since this test.',
    said: 'In detail:',

    failures: {
      zugang: 'The sign-in was refused',
      rechte: 'The account lacks rights',
      antwortform: 'The server answers in an unexpected way',
      server: 'The server reports an error',
      netz: 'The server is not reachable',
      zertifikat: 'The certificate of the server is not valid',
    },
    advice: {
      zugang: {
        token:
          'Check token ID and secret, whether the token has expired, and whether user and token are enabled. The server shows the secret only once. If in doubt, make a new token.',
        password:
          'Check user, realm and password. The account must not have a second factor. Many servers lock accounts after several failures.',
      },
      antwortform: 'Check address, port and kind of the server. Perhaps another program or a proxy answers there.',
      server: 'Look into the log of the server. If the error stays, restart its API service.',
      netz: 'Check address and port, whether the server runs, and whether the firewall lets connections from the portal through.',
      zertifikat:
        'Enter the CA certificate of the server, or give it a valid certificate. The address must have the name that it was issued for.',
    },
    caWhere: {
      virtualization: 'The CA certificate is on the server in:',
      backup: 'The certificate is on the server in:',
      'mail-gateway': 'The certificate is on the server in:',
    },
    rights: {
      virtualization: {
        text: 'Give user and token the role PVEAuditor on “/”. With a token that has separate privileges, both need the role. On a node, do this:',
        more: 'An account with this role cannot read pending updates and the content of backup storages. The portal does without them.',
      },
      backup: {
        text: 'Give user and token the role Audit on “/”, and for synchronizations the role RemoteAudit on “/remote”. On the server, do this:',
        more: 'Audit contains the right Datastore.Audit. An account that has it for one datastore only sees just that one.',
      },
      'mail-gateway': {
        text: 'Give the user the role Auditor, in the mail gateway’s own pages under “Configuration › User Management”.',
        more: 'The roles “Quarantine Manager” and “Help Desk” are not enough.',
      },
    },
  },
});
