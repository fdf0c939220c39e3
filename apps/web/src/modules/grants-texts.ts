import { catalogue } from '../language.ts';

export const texts = catalogue({
  de: {
    intro: 'Klicken Sie auf ein Feld, um den Zugriff zu ändern. Er gilt erst, wenn Sie speichern.',
    matrix: 'Berechtigungen',
    subject: 'Gruppe oder Konto',
    search: 'Namen suchen',
    searchModules: 'Module suchen',
    filter: 'Filter',
    kind: 'Anzeige',
    kinds: { all: 'Gruppen und Konten', group: 'Nur Gruppen', user: 'Nur Konten' },
    kindOf: { group: 'Gruppe', user: 'Konto' },
    levels: { USE: 'Nutzen', MANAGE: 'Verwalten' },
    none: 'Kein Zugriff',
    on: 'An',
    off: 'Aus',
    isOff: (name: string) => `${name} ist abgeschaltet. Berechtigungen gelten, sobald es wieder an ist.`,
    cell: (subject: string, module: string) => `${subject}, ${module}`,
    cellState: (level: string, isChanged: boolean) => (isChanged ? `${level}, nicht gespeichert` : level),
    chosen: (cell: string, level: string) => `${cell}: ${level}, nicht gespeichert`,
    shown: (shown: number, all: number) => (shown === all ? `${all} Zeilen` : `${shown} von ${all} Zeilen`),
    addAccount: 'Konto hinzufügen',
    addCount: (count: number) =>
      count === 0 ? 'Hinzufügen' : count === 1 ? '1 Konto hinzufügen' : `${count} Konten hinzufügen`,
    isListed: 'steht schon in der Liste',
    noMatch: 'Nichts passt zu dieser Suche.',
    noSubjects: 'Noch keine Gruppen',
    noSubjectsText: 'Legen Sie eine Gruppe an oder fügen Sie ein Konto hinzu, um Module freizugeben.',
    toGroups: 'Zu den Gruppen',
    changes: 'Änderungen',
    unsaved: (count: number) =>
      count === 1 ? '1 Änderung ist nicht gespeichert' : `${count} Änderungen sind nicht gespeichert`,
    step: (from: string, to: string) => `${from} → ${to}`,
    takeBack: (cell: string) => `Änderung zurücknehmen: ${cell}`,
    save: (count: number) => (count === 1 ? '1 Änderung speichern' : `${count} Änderungen speichern`),
    saving: 'Wird gespeichert',
    discard: 'Verwerfen',
    saved: (count: number) => (count === 1 ? '1 Änderung ist gespeichert.' : `${count} Änderungen sind gespeichert.`),
    nothingLeft: 'Es war nichts mehr zu speichern: Andere haben es schon so eingestellt oder die Gruppe gelöscht.',
    failed: (count: number) =>
      count === 1
        ? '1 Änderung wurde nicht gespeichert. Versuchen Sie es erneut oder nehmen Sie sie zurück.'
        : `${count} Änderungen wurden nicht gespeichert. Versuchen Sie es erneut oder nehmen Sie sie zurück.`,
    undone: 'Rückgängig gemacht.',
    partlyUndone: (count: number) =>
      count === 1
        ? '1 Feld wurde inzwischen geändert und bleibt, wie es ist.'
        : `${count} Felder wurden inzwischen geändert und bleiben, wie sie sind.`,
    notUndone: 'Das ließ sich nicht rückgängig machen. Bitte prüfen Sie die Felder.',
    help: 'Was die Stufen bedeuten, und Tasten',
    helpLines: [
      'Nutzen: das Modul öffnen und damit arbeiten.',
      'Verwalten: zusätzlich seine Einstellungen ändern. Module ohne Einstellungen kennen nur Nutzen.',
      'Wer mehrere Berechtigungen hat, erhält die höchste. Administratoren dürfen in jedem Modul alles.',
      'Pfeiltasten, Bild auf, Bild ab, Pos1 und Ende bewegen; Leertaste oder Eingabetaste wechselt die Stufe; Entf entzieht den Zugriff.',
    ],
  },
  en: {
    intro: 'Click a cell to change access. It takes effect only when you save.',
    matrix: 'Grants',
    subject: 'Group or account',
    search: 'Search names',
    searchModules: 'Search modules',
    filter: 'Filter',
    kind: 'Show',
    kinds: { all: 'Groups and accounts', group: 'Groups only', user: 'Accounts only' },
    kindOf: { group: 'Group', user: 'Account' },
    levels: { USE: 'Use', MANAGE: 'Manage' },
    none: 'No access',
    on: 'On',
    off: 'Off',
    isOff: (name: string) => `${name} is switched off. Grants apply as soon as it is on again.`,
    cell: (subject: string, module: string) => `${subject}, ${module}`,
    cellState: (level: string, isChanged: boolean) => (isChanged ? `${level}, not saved` : level),
    chosen: (cell: string, level: string) => `${cell}: ${level}, not saved`,
    shown: (shown: number, all: number) => (shown === all ? `${all} rows` : `${shown} of ${all} rows`),
    addAccount: 'Add account',
    addCount: (count: number) => (count === 0 ? 'Add' : count === 1 ? 'Add 1 account' : `Add ${count} accounts`),
    isListed: 'already in the list',
    noMatch: 'Nothing matches this search.',
    noSubjects: 'No groups yet',
    noSubjectsText: 'Create a group or add an account to grant modules.',
    toGroups: 'Go to groups',
    changes: 'Changes',
    unsaved: (count: number) => (count === 1 ? '1 change is not saved' : `${count} changes are not saved`),
    step: (from: string, to: string) => `${from} → ${to}`,
    takeBack: (cell: string) => `Take back the change: ${cell}`,
    save: (count: number) => (count === 1 ? 'Save 1 change' : `Save ${count} changes`),
    saving: 'Saving',
    discard: 'Discard',
    saved: (count: number) => (count === 1 ? '1 change is saved.' : `${count} changes are saved.`),
    nothingLeft: 'There was nothing left to save: others have already set it so, or deleted the group.',
    failed: (count: number) =>
      count === 1
        ? '1 change was not saved. Try again or take it back.'
        : `${count} changes were not saved. Try again or take them back.`,
    undone: 'Undone.',
    partlyUndone: (count: number) =>
      count === 1
        ? '1 cell was changed meanwhile and stays as it is.'
        : `${count} cells were changed meanwhile and stay as they are.`,
    notUndone: 'This could not be undone. Please check the cells.',
    help: 'What the levels mean, and keys',
    helpLines: [
      'Use: open the module and work with it.',
      'Manage: also change its settings. Modules without settings know only Use.',
      'An account with several grants gets the highest. Administrators may do everything in every module.',
      'Arrow keys, Page Up, Page Down, Home and End move; Space or Enter changes the level; Delete takes access away.',
    ],
  },
});
