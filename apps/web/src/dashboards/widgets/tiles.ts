import type { ComponentType } from 'preact';
import type { WidgetType } from '@portal/domain/dashboards/widgets';
import { CalendarTile } from './calendar-tile.tsx';
import { ClockTile } from './clock-tile.tsx';
import { CloudTile } from './cloud-tile.tsx';
import { EmbeddedPageTile } from './embedded-page-tile.tsx';
import { FavoritesTile } from './favorites-tile.tsx';
import { NotesTile } from './notes-tile.tsx';
import { PictureFrameTile } from './picture-frame-tile.tsx';
import { RemindersTile } from './reminders-tile.tsx';
import { BackupTile, MailGatewayTile, VirtualizationTile } from './server-tiles.tsx';
import { TenderRadarTile } from './tender-radar-tile.tsx';
import type { TileProps } from './tile-props.ts';

/** In the script of the dashboard: together they are small, and a request for each would take longer than reading the others. */
export const tiles: Record<WidgetType, ComponentType<TileProps>> = {
  favorites: FavoritesTile,
  reminders: RemindersTile,
  calendar: CalendarTile,
  notes: NotesTile,
  clock: ClockTile,
  'picture-frame': PictureFrameTile,
  'embedded-page': EmbeddedPageTile,
  'tender-radar': TenderRadarTile,
  'virtualization-status': VirtualizationTile,
  'backup-status': BackupTile,
  'mail-gateway-status': MailGatewayTile,
  'cloud-status': CloudTile,
};
