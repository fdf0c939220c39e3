import {
  Bell,
  CalendarDays,
  Clock,
  Cloud,
  DatabaseBackup,
  Gavel,
  Globe,
  Image,
  type IconNode,
  MailCheck,
  Server,
  Star,
  StickyNote,
} from 'lucide';
import type { ComponentType } from 'preact';
import type { WidgetType } from '@portal/domain/dashboards/widgets';
import { lazy } from '../../lazy.tsx';
import { hostOf } from './addresses.ts';
import { readClock, readEmbeddedPage } from './configs.ts';
import { texts } from './registry-texts.ts';
import type { Config, SettingsProps, TileProps } from './tile-props.ts';
import { tiles } from './tiles.ts';
import { cityOf } from './time-zones.ts';

export interface WidgetKind {
  label: () => string;
  description: () => string;
  icon: IconNode;
  /** The module whose grant is needed to add the widget; null if every account may. */
  module: string | null;
  /** In the columns and rows of `lg`. */
  size: { w: number; h: number; minW: number; minH: number };
  Tile: ComponentType<TileProps>;
  /** Null if there is nothing to set. */
  Settings: ComponentType<SettingsProps> | null;
  /** The title, where the configuration tells several tiles of a type apart. */
  title?: (config: Config) => string;
}

/** Every type of widget. */
export const widgetKinds: Record<WidgetType, WidgetKind> = {
  favorites: kind('favorites', Star, [8, 8, 3, 4]),
  reminders: kind('reminders', Bell, [8, 12, 5, 6]),
  calendar: kind('calendar', CalendarDays, [8, 14, 5, 6], 'calendar'),
  // The text is edited in the tile.
  notes: { ...kind('notes', StickyNote, [6, 8, 4, 5]), Settings: null },
  clock: {
    ...kind('clock', Clock, [5, 6, 3, 4]),
    title: (config) => ('timeZone' in config ? cityOf(readClock(config).timeZone) : ''),
  },
  'picture-frame': kind('picture-frame', Image, [8, 10, 3, 5]),
  'embedded-page': {
    ...kind('embedded-page', Globe, [12, 16, 4, 6]),
    title: (config) => readEmbeddedPage(config).title || hostOf(readEmbeddedPage(config).url),
  },
  'tender-radar': kind('tender-radar', Gavel, [10, 14, 5, 6], 'tender-radar'),
  'virtualization-status': kind('virtualization-status', Server, [8, 12, 5, 5], 'virtualization'),
  'backup-status': kind('backup-status', DatabaseBackup, [8, 12, 5, 5], 'virtualization'),
  'mail-gateway-status': kind('mail-gateway-status', MailCheck, [8, 12, 5, 5], 'virtualization'),
  'cloud-status': kind('cloud-status', Cloud, [8, 12, 5, 5], 'cloud-status'),
};

function forms() {
  return import('./settings-forms.ts').then(({ settingsForms }) => settingsForms);
}

function kind(
  type: WidgetType,
  icon: IconNode,
  [w, h, minW, minH]: [w: number, h: number, minW: number, minH: number],
  module: string | null = null,
): WidgetKind {
  return {
    label: () => texts.value[type][0],
    description: () => texts.value[type][1],
    icon,
    module,
    size: { w, h, minW, minH },
    Tile: tiles[type],
    Settings: lazy(() => forms().then((loaded) => loaded[type as keyof typeof loaded])),
  };
}
