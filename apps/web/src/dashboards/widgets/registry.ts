import {
  Bell,
  CalendarDays,
  Clock,
  Cloud,
  DatabaseBackup,
  Gavel,
  Globe,
  Image,
  type LucideIcon,
  MailCheck,
  Server,
  Star,
  StickyNote,
} from 'lucide-preact';
import type { ComponentType } from 'preact';
import type { WidgetType } from '@portal/domain/dashboards/widgets';
import { type Lazy, lazy } from '../../lazy.tsx';
import { hostOf } from './addresses.ts';
import { readClock, readEmbeddedPage } from './configs.ts';
import { texts } from './registry-texts.ts';
import type { Config, SettingsProps, TileProps } from './tile-props.ts';
import { cityOf } from './time-zones.ts';

export interface WidgetKind {
  label: () => string;
  description: () => string;
  icon: LucideIcon;
  /** The module whose grant is needed to add the widget; null if every account may. */
  module: string | null;
  /** In the columns and rows of `lg`. */
  size: { w: number; h: number; minW: number; minH: number };
  Tile: Lazy<TileProps>;
  /** Null if there is nothing to set. */
  Settings: ComponentType<SettingsProps> | null;
  /** The title, where the configuration tells several tiles of a type apart. */
  title?: (config: Config) => string;
}

/** Every type of widget. Scripts of tiles load when a tile is shown. */
export const widgetKinds: Record<WidgetType, WidgetKind> = {
  favorites: kind('favorites', Star, [8, 8, 3, 4], small),
  reminders: kind('reminders', Bell, [8, 12, 5, 6], small),
  calendar: kind('calendar', CalendarDays, [8, 14, 5, 6], feeds, 'calendar'),
  // The text is edited in the tile.
  notes: { ...kind('notes', StickyNote, [6, 8, 4, 5], small), Settings: null },
  clock: {
    ...kind('clock', Clock, [5, 6, 3, 4], small),
    title: (config) => ('timeZone' in config ? cityOf(readClock(config).timeZone) : ''),
  },
  'picture-frame': kind('picture-frame', Image, [8, 10, 3, 5], frames),
  'embedded-page': {
    ...kind('embedded-page', Globe, [12, 16, 4, 6], frames),
    title: (config) => readEmbeddedPage(config).title || hostOf(readEmbeddedPage(config).url),
  },
  'tender-radar': kind('tender-radar', Gavel, [10, 14, 5, 6], feeds, 'tender-radar'),
  'virtualization-status': kind('virtualization-status', Server, [8, 12, 5, 5], statuses, 'virtualization'),
  'backup-status': kind('backup-status', DatabaseBackup, [8, 12, 5, 5], statuses, 'virtualization'),
  'mail-gateway-status': kind('mail-gateway-status', MailCheck, [8, 12, 5, 5], statuses, 'virtualization'),
  'cloud-status': kind('cloud-status', Cloud, [8, 12, 5, 5], statuses, 'cloud-status'),
};

function small() {
  return import('./small-tiles.ts').then(({ smallTiles }) => smallTiles);
}
function frames() {
  return import('./frame-tiles.ts').then(({ frameTiles }) => frameTiles);
}
function feeds() {
  return import('./feed-tiles.ts').then(({ feedTiles }) => feedTiles);
}
function statuses() {
  return import('./status-tiles.ts').then(({ statusTiles }) => statusTiles);
}
function forms() {
  return import('./settings-forms.ts').then(({ settingsForms }) => settingsForms);
}

function kind<Type extends WidgetType>(
  type: Type,
  icon: LucideIcon,
  [w, h, minW, minH]: [w: number, h: number, minW: number, minH: number],
  tiles: () => Promise<Record<Type, ComponentType<TileProps>>>,
  module: string | null = null,
): WidgetKind {
  return {
    label: () => texts.value[type][0],
    description: () => texts.value[type][1],
    icon,
    module,
    size: { w, h, minW, minH },
    Tile: lazy(() => tiles().then((loaded) => loaded[type])),
    Settings: lazy(() => forms().then((loaded) => loaded[type as keyof typeof loaded])),
  };
}
