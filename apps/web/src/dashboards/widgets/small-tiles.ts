import { ClockTile } from './clock-tile.tsx';
import { FavoritesTile } from './favorites-tile.tsx';
import { NotesTile } from './notes-tile.tsx';
import { RemindersTile } from './reminders-tile.tsx';

/** Loaded together: most dashboards show several of them, and each is small. */
export const smallTiles = {
  clock: ClockTile,
  favorites: FavoritesTile,
  notes: NotesTile,
  reminders: RemindersTile,
};
