import type { ComponentType } from 'preact';
import type { WidgetType } from '@portal/domain/dashboards/widgets';
import { CalendarSettings, ServerSettings, CloudSettings, TenderRadarSettings } from './module-settings.tsx';
import { PictureFrameSettings } from './picture-frame-settings.tsx';
import { ClockSettings, EmbeddedPageSettings, FavoritesSettings, RemindersSettings } from './plain-settings.tsx';
import type { SettingsProps } from './tile-props.ts';

/** The forms of all types of widgets, loaded together when the first is opened. A note is edited in its tile. */
export const settingsForms = {
  favorites: FavoritesSettings,
  'picture-frame': PictureFrameSettings,
  'embedded-page': EmbeddedPageSettings,
  reminders: RemindersSettings,
  clock: ClockSettings,
  calendar: CalendarSettings,
  'tender-radar': TenderRadarSettings,
  'virtualization-status': ServerSettings('virtualization'),
  'backup-status': ServerSettings('backup'),
  'mail-gateway-status': ServerSettings('mail-gateway'),
  'cloud-status': CloudSettings,
} satisfies Record<Exclude<WidgetType, 'notes'>, ComponentType<SettingsProps>>;
