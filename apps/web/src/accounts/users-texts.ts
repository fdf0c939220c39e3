import { catalogue, formatNumber } from '../language.ts';

/** For the list of accounts and for what is done to one or several of them. */
export const texts = catalogue({
  de: {
    add: 'Neues Konto',
    import: 'Importieren',
    export: 'Exportieren',
    exported: (count: number) => `${accountsDe(count)} exportiert.`,
    exportFailed: 'Die Liste ließ sich nicht exportieren. Bitte versuchen Sie es erneut.',
    fileName: 'konten',

    filters: 'Konten filtern',
    search: 'Suche',
    searchHint: 'Name, Benutzername, E-Mail',
    all: 'Alle',
    allTenants: 'Alle Mandanten',
    resetFilters: 'Filter zurücksetzen',
    noneFound: 'Kein Konto passt zu diesen Filtern',
    count: accountsDe,
    countOfMany: (count: number) => `Die ersten ${formatNumber(count)} Konten`,
    selected: (count: number) => `${formatNumber(count)} ausgewählt`,
    clearSelection: 'Auswahl aufheben',
    selectAll: 'Alle aufgelisteten auswählen',
    select: (name: string) => `${name} auswählen`,

    name: 'Name',
    actions: 'Aktionen',
    actionsOf: (name: string) => `Aktionen für ${name}`,
    open: 'Bearbeiten',
    resetPassword: 'Passwort zurücksetzen',

    cancel: 'Abbrechen',
    close: 'Schließen',
    stop: 'Anhalten',
    again: 'Erneut versuchen',
    account: (name: string) => `Konto „${name}“`,
    accounts: accountsDe,
    others: (count: number) => `und ${formatNumber(count)} weitere`,
    ownIncluded: 'Ihr eigenes Konto ist dabei.',
    directoryReturns:
      'Konten aus dem Verzeichnis legt die nächste Synchronisierung ohne ihre Daten wieder an. Um das zu verhindern, schließen Sie sie in den Einstellungen des Verzeichnisses aus.',
    directoryStaysOff: 'Auch eine Synchronisierung mit dem Verzeichnis aktiviert sie nicht wieder.',
    withoutAddress: (count: number) =>
      count === 1 ? 'Ein Konto hat keine E-Mail-Adresse.' : `${formatNumber(count)} Konten haben keine E-Mail-Adresse.`,
    noMailServer: 'Es ist noch kein Mailserver eingerichtet, deshalb lassen sich keine E-Mails senden.',
    toMailSettings: 'Mailserver einrichten',
    newRole: 'Neue Rolle',
    failed: (count: number) =>
      count === 1
        ? 'Bei einem Konto hat es nicht geklappt:'
        : `Bei ${formatNumber(count)} Konten hat es nicht geklappt:`,
    notBegun: (count: number) =>
      count === 1
        ? 'Ein Konto war noch nicht an der Reihe.'
        : `${formatNumber(count)} Konten waren noch nicht an der Reihe.`,
    mailPending: 'Der Versand ist noch nicht bestätigt. Die E-Mail geht vielleicht noch hinaus.',
    action: {
      activate: {
        label: 'Aktivieren',
        title: (what: string) => `${what} aktivieren?`,
        text: 'Die Anmeldung ist danach wieder möglich.',
        running: 'Wird aktiviert …',
        done: (what: string) => `${what} aktiviert.`,
      },
      deactivate: {
        label: 'Deaktivieren',
        title: (what: string) => `${what} deaktivieren?`,
        text: 'Die Anmeldung ist danach nicht mehr möglich, offene Sitzungen enden. Alle Daten bleiben erhalten.',
        running: 'Wird deaktiviert …',
        done: (what: string) => `${what} deaktiviert.`,
      },
      role: {
        label: 'Rolle ändern',
        title: (what: string) => `Rolle ändern: ${what}`,
        text: 'Die neue Rolle gilt sofort.',
        running: 'Rolle wird geändert …',
        done: (what: string) => `Rolle geändert: ${what}.`,
      },
      endSessions: {
        label: 'Sitzungen beenden',
        title: (what: string) => `Alle Sitzungen beenden: ${what}`,
        text: 'Auf allen Geräten ist danach eine neue Anmeldung nötig.',
        running: 'Sitzungen werden beendet …',
        done: (what: string) => `Sitzungen beendet: ${what}.`,
      },
      welcomeMail: {
        label: 'Willkommensmail senden',
        title: (what: string) => `Willkommensmail senden: ${what}`,
        text: 'Lokale Konten erhalten einen Link, der 7 Tage gilt und mit dem sie ihr Passwort festlegen. Ein früherer Link wird ungültig. Konten aus dem Verzeichnis erhalten einen Hinweis auf ihr dortiges Passwort.',
        running: 'Willkommensmails werden gesendet …',
        done: (what: string) => `Willkommensmail gesendet: ${what}.`,
      },
      delete: {
        label: 'Löschen',
        title: (what: string) => `${what} löschen?`,
        text: 'Dashboards, Erinnerungen, Bilder und alle anderen persönlichen Daten werden mitgelöscht. Das lässt sich nicht rückgängig machen.',
        running: 'Wird gelöscht …',
        done: (what: string) => `${what} gelöscht.`,
      },
    },

    passwordTitle: 'Passwort zurücksetzen?',
    passwordText: (name: string) =>
      `„${name}“ erhält ein temporäres Passwort. Das bisherige gilt nicht mehr, und alle Sitzungen enden.`,
    makePassword: 'Temporäres Passwort erzeugen',
    passwordMade: (name: string) => `Temporäres Passwort für „${name}“`,
    passwordOnce:
      'Es wird nur dieses eine Mal angezeigt. Geben Sie es auf sicherem Weg weiter: Bei der ersten Anmeldung muss ein neues Passwort festgelegt werden, spätestens in 7 Tagen.',
    password: 'Temporäres Passwort',
    copy: 'Kopieren',
    copied: 'Kopiert.',
    copyByHand: 'Der Browser erlaubt das Kopieren nicht. Das Passwort ist markiert: Drücken Sie Strg+C.',
    notCopied: 'Das Passwort ist noch nicht kopiert und lässt sich später nicht mehr anzeigen.',
    done: 'Fertig',
    closeAnyway: 'Trotzdem schließen',
  },
  en: {
    add: 'New account',
    import: 'Import',
    export: 'Export',
    exported: (count: number) => `Exported ${accountsEn(count)}.`,
    exportFailed: 'The list could not be exported. Please try again.',
    fileName: 'accounts',

    filters: 'Filter accounts',
    search: 'Search',
    searchHint: 'Name, username, e-mail',
    all: 'All',
    allTenants: 'All tenants',
    resetFilters: 'Reset filters',
    noneFound: 'No account matches these filters',
    count: accountsEn,
    countOfMany: (count: number) => `The first ${formatNumber(count)} accounts`,
    selected: (count: number) => `${formatNumber(count)} selected`,
    clearSelection: 'Clear selection',
    selectAll: 'Select all listed',
    select: (name: string) => `Select ${name}`,

    name: 'Name',
    actions: 'Actions',
    actionsOf: (name: string) => `Actions for ${name}`,
    open: 'Edit',
    resetPassword: 'Reset password',

    cancel: 'Cancel',
    close: 'Close',
    stop: 'Stop',
    again: 'Try again',
    account: (name: string) => `account “${name}”`,
    accounts: accountsEn,
    others: (count: number) => `and ${formatNumber(count)} more`,
    ownIncluded: 'Your own account is among them.',
    directoryReturns:
      'The next synchronization creates accounts of the directory again, without their data. To prevent that, exclude them in the directory settings.',
    directoryStaysOff: 'A synchronization with the directory does not activate them again, either.',
    withoutAddress: (count: number) =>
      count === 1 ? 'One account has no e-mail address.' : `${formatNumber(count)} accounts have no e-mail address.`,
    noMailServer: 'No mail server is set up yet, so no e-mail can be sent.',
    toMailSettings: 'Set up a mail server',
    newRole: 'New role',
    failed: (count: number) =>
      count === 1 ? 'It did not work for one account:' : `It did not work for ${formatNumber(count)} accounts:`,
    notBegun: (count: number) =>
      count === 1
        ? 'One account has not had its turn yet.'
        : `${formatNumber(count)} accounts have not had their turn yet.`,
    mailPending: 'Delivery is not confirmed yet. The e-mail may still go out.',
    action: {
      activate: {
        label: 'Activate',
        title: (what: string) => `Activate ${what}?`,
        text: 'Signing in is possible again afterwards.',
        running: 'Activating…',
        done: (what: string) => `Activated ${what}.`,
      },
      deactivate: {
        label: 'Deactivate',
        title: (what: string) => `Deactivate ${what}?`,
        text: 'Signing in is no longer possible afterwards, and open sessions end. All data are kept.',
        running: 'Deactivating…',
        done: (what: string) => `Deactivated ${what}.`,
      },
      role: {
        label: 'Change role',
        title: (what: string) => `Change the role of ${what}`,
        text: 'The new role takes effect at once.',
        running: 'Changing the role…',
        done: (what: string) => `Changed the role of ${what}.`,
      },
      endSessions: {
        label: 'End sessions',
        title: (what: string) => `End all sessions of ${what}?`,
        text: 'All devices have to sign in again afterwards.',
        running: 'Ending sessions…',
        done: (what: string) => `Ended the sessions of ${what}.`,
      },
      welcomeMail: {
        label: 'Send welcome mail',
        title: (what: string) => `Send the welcome mail to ${what}?`,
        text: 'Local accounts get a link that works for 7 days and lets them choose their password. An earlier link stops working. Accounts of the directory get a hint about their password there.',
        running: 'Sending welcome mails…',
        done: (what: string) => `Sent the welcome mail to ${what}.`,
      },
      delete: {
        label: 'Delete',
        title: (what: string) => `Delete ${what}?`,
        text: 'Dashboards, reminders, pictures and all other personal data are deleted, too. This cannot be undone.',
        running: 'Deleting…',
        done: (what: string) => `Deleted ${what}.`,
      },
    },

    passwordTitle: 'Reset the password?',
    passwordText: (name: string) =>
      `“${name}” gets a temporary password. The present one stops working, and all sessions end.`,
    makePassword: 'Make a temporary password',
    passwordMade: (name: string) => `Temporary password for “${name}”`,
    passwordOnce:
      'It is shown only this once. Pass it on by a safe way: at the first sign-in, within 7 days, a new password has to be chosen.',
    password: 'Temporary password',
    copy: 'Copy',
    copied: 'Copied.',
    copyByHand: 'The browser does not allow copying. The password is selected: press Ctrl+C.',
    notCopied: 'The password is not copied yet and cannot be shown again later.',
    done: 'Done',
    closeAnyway: 'Close anyway',
  },
});

function accountsDe(count: number): string {
  return count === 1 ? '1 Konto' : `${formatNumber(count)} Konten`;
}

function accountsEn(count: number): string {
  return count === 1 ? '1 account' : `${formatNumber(count)} accounts`;
}
