import { catalogue } from '../language.ts';

const listed = (names: readonly string[], more: (count: number) => string, maxNames = 5): string =>
  names.length > maxNames
    ? `${names.slice(0, maxNames).join(', ')} ${more(names.length - maxNames)}`
    : names.join(', ');

export const texts = catalogue({
  de: {
    intro: 'Über Gruppen erhalten mehrere Konten auf einmal Zugriff auf Module.',
    add: 'Neue Gruppe',
    create: 'Anlegen',
    save: 'Speichern',
    cancel: 'Abbrechen',
    name: 'Name',
    nameTaken: 'Diesen Namen hat schon eine andere Gruppe.',
    source: 'Herkunft',
    sources: { local: 'Lokal', directory: 'Verzeichnis' },
    members: 'Mitglieder',
    membersOf: (group: string) => `Mitglieder von „${group}“`,
    actions: 'Aktionen',
    search: 'Gruppen suchen',
    count: (count: string, isOne: boolean) => `${count} ${isOne ? 'Gruppe' : 'Gruppen'}`,
    none: 'Noch keine Gruppen',
    noneText: 'Legen Sie eine Gruppe an, fügen Sie Mitglieder hinzu und geben Sie ihr Module frei.',
    rename: 'Umbenennen',
    renameOf: (name: string) => `„${name}“ umbenennen`,
    renamed: (name: string) => `Die Gruppe heißt jetzt „${name}“.`,
    created: (name: string) => `Die Gruppe „${name}“ ist angelegt.`,
    delete: 'Löschen',
    deleteOf: (name: string) => `„${name}“ löschen`,
    deleteTitle: 'Gruppe löschen?',
    deleteText: (name: string, members: number) =>
      `Die Gruppe „${name}“ wird gelöscht. ${
        members === 0
          ? 'Sie hat keine Mitglieder.'
          : members === 1
            ? 'Ihr Mitglied verliert die Zugehörigkeit, das Konto bleibt bestehen.'
            : `Ihre ${members} Mitglieder verlieren die Zugehörigkeit, die Konten bleiben bestehen.`
      }`,
    deleteModules: (modules: string[]) =>
      `Der Zugriff über diese Gruppe endet für: ${listed(modules, (more) => `und ${more} weitere`, 20)}.`,
    deleted: (name: string) => `Die Gruppe „${name}“ wurde gelöscht.`,
    allGroups: 'Alle Gruppen',
    notFound: 'Diese Gruppe gibt es nicht',
    notFoundText: 'Sie wurde gelöscht, oder die Adresse stimmt nicht.',
    directoryText: 'Diese Gruppe kommt aus dem Verzeichnis: Name und Mitglieder ändern Sie dort.',
    grants: 'Module',
    grant: (module: string, level: string) => `${module}: ${level}`,
    noGrants: 'Dieser Gruppe ist noch kein Modul freigegeben.',
    changeGrants: 'Berechtigungen ändern',
    account: 'Konto',
    username: 'Benutzername',
    addMembers: 'Mitglieder hinzufügen',
    addMembersTo: (group: string) => `Mitglieder zu „${group}“ hinzufügen`,
    addCount: (count: number) =>
      count === 0 ? 'Hinzufügen' : count === 1 ? '1 Konto hinzufügen' : `${count} Konten hinzufügen`,
    added: (names: string[]) => `Hinzugefügt: ${listed(names, (more) => `und ${more} weitere`)}`,
    isMember: 'schon Mitglied',
    remove: (name: string) => `${name} aus der Gruppe entfernen`,
    removed: (names: string[]) => `Aus der Gruppe entfernt: ${listed(names, (more) => `und ${more} weitere`)}`,
    removeCount: (count: number) => (count === 1 ? '1 Mitglied entfernen' : `${count} Mitglieder entfernen`),
    select: (name: string) => `${name} auswählen`,
    selectAll: 'Alle auswählen',
    undone: 'Rückgängig gemacht.',
    notChanged: 'Das hat nicht geklappt. Bitte laden Sie die Seite neu und versuchen Sie es erneut.',
    searchMembers: 'Mitglieder suchen',
    memberCount: (count: string, isOne: boolean) => `${count} ${isOne ? 'Mitglied' : 'Mitglieder'}`,
    noMembers: 'Noch keine Mitglieder. Fügen Sie Konten hinzu, damit sie die Module der Gruppe erhalten.',
    noDirectoryMembers: 'Im Verzeichnis hat diese Gruppe keine Mitglieder.',
  },
  en: {
    intro: 'Groups give several accounts access to modules at once.',
    add: 'New group',
    create: 'Create',
    save: 'Save',
    cancel: 'Cancel',
    name: 'Name',
    nameTaken: 'Another group already has this name.',
    source: 'Source',
    sources: { local: 'Local', directory: 'Directory' },
    members: 'Members',
    membersOf: (group: string) => `Members of “${group}”`,
    actions: 'Actions',
    search: 'Search groups',
    count: (count: string, isOne: boolean) => `${count} ${isOne ? 'group' : 'groups'}`,
    none: 'No groups yet',
    noneText: 'Create a group, add members and grant modules to it.',
    rename: 'Rename',
    renameOf: (name: string) => `Rename “${name}”`,
    renamed: (name: string) => `The group is now called “${name}”.`,
    created: (name: string) => `The group “${name}” is created.`,
    delete: 'Delete',
    deleteOf: (name: string) => `Delete “${name}”`,
    deleteTitle: 'Delete group?',
    deleteText: (name: string, members: number) =>
      `The group “${name}” will be deleted. ${
        members === 0
          ? 'It has no members.'
          : members === 1
            ? 'Its member leaves it; the account remains.'
            : `Its ${members} members leave it; the accounts remain.`
      }`,
    deleteModules: (modules: string[]) =>
      `Access through this group ends for: ${listed(modules, (more) => `and ${more} more`, 20)}.`,
    deleted: (name: string) => `The group “${name}” was deleted.`,
    allGroups: 'All groups',
    notFound: 'This group does not exist',
    notFoundText: 'It was deleted, or the address is wrong.',
    directoryText: 'This group comes from the directory: change its name and members there.',
    grants: 'Modules',
    grant: (module: string, level: string) => `${module}: ${level}`,
    noGrants: 'No module is granted to this group yet.',
    changeGrants: 'Change grants',
    account: 'Account',
    username: 'Username',
    addMembers: 'Add members',
    addMembersTo: (group: string) => `Add members to “${group}”`,
    addCount: (count: number) => (count === 0 ? 'Add' : count === 1 ? 'Add 1 account' : `Add ${count} accounts`),
    added: (names: string[]) => `Added: ${listed(names, (more) => `and ${more} more`)}`,
    isMember: 'already a member',
    remove: (name: string) => `Remove ${name} from the group`,
    removed: (names: string[]) => `Removed from the group: ${listed(names, (more) => `and ${more} more`)}`,
    removeCount: (count: number) => (count === 1 ? 'Remove 1 member' : `Remove ${count} members`),
    select: (name: string) => `Select ${name}`,
    selectAll: 'Select all',
    undone: 'Undone.',
    notChanged: 'This did not work. Please reload the page and try again.',
    searchMembers: 'Search members',
    memberCount: (count: string, isOne: boolean) => `${count} ${isOne ? 'member' : 'members'}`,
    noMembers: 'No members yet. Add accounts, so that they get the modules of the group.',
    noDirectoryMembers: 'In the directory, this group has no members.',
  },
});
