import { catalogue, formatNumber } from '../language.ts';

const count = (n: number, one: string, many: string) => `${formatNumber(n, 0)} ${n === 1 ? one : many}`;

export const texts = catalogue({
  de: {
    name: 'Name',
    newTab: 'Neues Dashboard',
    newTabHint: 'Ohne Namen heißt es „Dashboard“ mit einer Nummer.',
    create: 'Anlegen',
    rename: 'Dashboard umbenennen',
    save: 'Speichern',
    cancel: 'Abbrechen',
    delete: 'Löschen',
    deleteTitle: (name: string) => `„${name}“ löschen?`,
    goes: (tiles: number, favorites: number) =>
      tiles === 0
        ? 'Das Dashboard ist leer.'
        : favorites === 0
          ? `${count(tiles, 'Kachel geht', 'Kacheln gehen')} dabei verloren.`
          : `${count(tiles, 'Kachel', 'Kacheln')} und ${count(favorites, 'Favorit', 'Favoriten')} gehen dabei verloren.`,
    allGoes: 'Alle Kacheln und ihre Favoriten gehen dabei verloren.',
  },
  en: {
    name: 'Name',
    newTab: 'New dashboard',
    newTabHint: 'Without a name, it is called “Dashboard” with a number.',
    create: 'Create',
    rename: 'Rename dashboard',
    save: 'Save',
    cancel: 'Cancel',
    delete: 'Delete',
    deleteTitle: (name: string) => `Delete “${name}”?`,
    goes: (tiles: number, favorites: number) =>
      tiles === 0
        ? 'The dashboard is empty.'
        : favorites === 0
          ? `${count(tiles, 'tile is', 'tiles are')} deleted with it.`
          : `${count(tiles, 'tile', 'tiles')} and ${count(favorites, 'favorite', 'favorites')} are deleted with it.`,
    allGoes: 'All tiles and their favorites are deleted with it.',
  },
});
