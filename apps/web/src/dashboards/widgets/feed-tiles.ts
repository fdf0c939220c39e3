import { CalendarTile } from './calendar-tile.tsx';
import { TenderRadarTile } from './tender-radar-tile.tsx';

export const feedTiles = { calendar: CalendarTile, 'tender-radar': TenderRadarTile };
