import type { Breakpoint } from '../grid/breakpoints.ts';
import { catalogue } from '../language.ts';

const scopes = {
  de: {
    lg: 'Anordnung für sehr breite Fenster',
    md: 'Anordnung für breite Fenster',
    sm: 'Anordnung für mittlere Fenster',
    xs: 'Anordnung für schmale Fenster',
    xxs: 'Anordnung für Telefone',
  },
  en: {
    lg: 'Layout for very wide windows',
    md: 'Layout for wide windows',
    sm: 'Layout for medium windows',
    xs: 'Layout for narrow windows',
    xxs: 'Layout for phones',
  },
} satisfies Record<string, Record<Breakpoint, string>>;

export const texts = catalogue({
  de: {
    bar: 'Dashboard bearbeiten',
    scope: (breakpoint: Breakpoint) => scopes.de[breakpoint],
    addTile: 'Kachel hinzufügen',
    save: 'Speichern',
    done: 'Fertig',
    discard: 'Verwerfen',
    cancel: 'Abbrechen',
    saved: 'Das Dashboard ist gespeichert.',
    discarded: 'Ihre Änderungen sind verworfen.',
    saveFailed: 'Nicht gespeichert',
    newerGrid:
      'Dieses Dashboard wurde inzwischen mit einer neueren Version des Portals angeordnet. Ihre Änderungen lassen sich nicht speichern.',
    conflictTitle: 'Anderswo geändert',
    conflict:
      'Dieses Dashboard wurde inzwischen in einem anderen Fenster oder auf einem anderen Gerät geändert. Welche Anordnung soll gelten?',
    keepMine: 'Meine',
    takeTheirs: 'Die andere',
    leaveTitle: 'Änderungen verwerfen?',
    leave: 'Die Änderungen an diesem Dashboard sind noch nicht gespeichert.',

    handle: (title: string) => `${title}: verschieben`,
    handleHint:
      'Mit der Eingabe- oder Leertaste greifen. Dann verschieben die Pfeiltasten, mit der Umschalttaste ändern sie die Größe. Die Eingabetaste legt ab, Escape bricht ab.',
    tileMenu: (title: string) => `Aktionen für „${title}“`,
    configure: 'Einstellungen',
    up: 'Nach oben',
    down: 'Nach unten',
    left: 'Nach links',
    right: 'Nach rechts',
    wider: 'Breiter',
    narrower: 'Schmaler',
    taller: 'Höher',
    shorter: 'Niedriger',
    moveToTab: 'Auf anderes Dashboard',
    remove: 'Entfernen',

    grabbed: (title: string, place: string) => `${title} ist gegriffen. ${place}.`,
    placed: (title: string, place: string) => `${title}: ${place}`,
    dropped: (title: string, place: string) => `${title} ist abgelegt. ${place}.`,
    reverted: (title: string, place: string) => `${title} ist wieder am alten Platz. ${place}.`,
    atEdge: (title: string) => `${title}: Weiter geht es nicht.`,
    place: (column: number, row: number) => `Spalte ${column}, Zeile ${row}`,
    size: (columns: number, rows: number) =>
      `${columns} ${columns === 1 ? 'Spalte' : 'Spalten'} breit, ${rows} ${rows === 1 ? 'Zeile' : 'Zeilen'} hoch`,
    added: (title: string, place: string) => `${title} ist hinzugefügt. ${place}.`,
    removed: (title: string) => `„${title}“ wird beim Speichern entfernt.`,
    movedToTab: (title: string, tab: string) => `„${title}“ ist jetzt auf „${tab}“.`,
    moveBackFailed: (title: string) => `„${title}“ ließ sich nicht zurückholen.`,

    settingsOf: (title: string) => `${title}: Einstellungen`,
    add: 'Hinzufügen',
    back: 'Zurück',
    target: 'Dashboard',
    move: 'Verschieben',
  },
  en: {
    bar: 'Edit dashboard',
    scope: (breakpoint: Breakpoint) => scopes.en[breakpoint],
    addTile: 'Add tile',
    save: 'Save',
    done: 'Done',
    discard: 'Discard',
    cancel: 'Cancel',
    saved: 'The dashboard is saved.',
    discarded: 'Your changes are discarded.',
    saveFailed: 'Not saved',
    newerGrid:
      'Meanwhile, this dashboard was arranged with a newer version of the portal. Your changes cannot be saved.',
    conflictTitle: 'Changed elsewhere',
    conflict:
      'Meanwhile, this dashboard was changed in another window or on another device. Which layout do you want to keep?',
    keepMine: 'Mine',
    takeTheirs: 'The other one',
    leaveTitle: 'Discard changes?',
    leave: 'The changes to this dashboard are not saved yet.',

    handle: (title: string) => `${title}: move`,
    handleHint:
      'Press Enter or Space to grab. Then the arrow keys move the tile, and with Shift they resize it. Enter drops it, Escape cancels.',
    tileMenu: (title: string) => `Actions for “${title}”`,
    configure: 'Settings',
    up: 'Move up',
    down: 'Move down',
    left: 'Move left',
    right: 'Move right',
    wider: 'Wider',
    narrower: 'Narrower',
    taller: 'Taller',
    shorter: 'Shorter',
    moveToTab: 'Move to another dashboard',
    remove: 'Remove',

    grabbed: (title: string, place: string) => `${title} is grabbed. ${place}.`,
    placed: (title: string, place: string) => `${title}: ${place}`,
    dropped: (title: string, place: string) => `${title} is dropped. ${place}.`,
    reverted: (title: string, place: string) => `${title} is back in its old place. ${place}.`,
    atEdge: (title: string) => `${title}: no further.`,
    place: (column: number, row: number) => `Column ${column}, row ${row}`,
    size: (columns: number, rows: number) =>
      `${columns} ${columns === 1 ? 'column' : 'columns'} wide, ${rows} ${rows === 1 ? 'row' : 'rows'} high`,
    added: (title: string, place: string) => `${title} is added. ${place}.`,
    removed: (title: string) => `“${title}” will be removed when you save.`,
    movedToTab: (title: string, tab: string) => `“${title}” is now on “${tab}”.`,
    moveBackFailed: (title: string) => `“${title}” could not be brought back.`,

    settingsOf: (title: string) => `${title}: settings`,
    add: 'Add',
    back: 'Back',
    target: 'Dashboard',
    move: 'Move',
  },
});
