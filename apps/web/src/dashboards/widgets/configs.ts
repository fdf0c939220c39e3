import { timeZone as berlin } from '../../language.ts';
import type { Config } from './tile-props.ts';

// What each type of widget shows, with the defaults of keys that are left out. Tiles and settings read the same.

export const readFavorites = (config: Config) => ({
  /** Null: as many as fit. */
  columns: numberIn(config, 'columns', null),
  showLabels: flagIn(config, 'showLabels', true),
});

export const readPictureFrame = (config: Config) => ({
  imageIds: idsIn(config, 'imageIds'),
  intervalSec: numberIn(config, 'intervalSec', 30),
  fit: config['fit'] === 'contain' ? ('contain' as const) : ('cover' as const),
});

export const readEmbeddedPage = (config: Config) => ({
  url: textIn(config, 'url', ''),
  title: textIn(config, 'title', ''),
  reloadIntervalSec: numberIn(config, 'reloadIntervalSec', 0),
});

export const readReminders = (config: Config) => ({ showDone: flagIn(config, 'showDone', false) });

export const readClock = (config: Config) => ({
  timeZone: textIn(config, 'timeZone', berlin),
  showSeconds: flagIn(config, 'showSeconds', false),
});

export const readNotes = (config: Config) => ({ text: textIn(config, 'text', '') });

export const readCalendar = (config: Config) => ({
  sourceIds: idsIn(config, 'sourceIds'),
  days: numberIn(config, 'days', 7),
});

export const readTenderRadar = (config: Config) => ({
  savedSearchId: textIn(config, 'savedSearchId', ''),
  limit: numberIn(config, 'limit', 5),
});

export const readServers = (config: Config) => ({
  ids: idsIn(config, 'serverIds'),
  isCompact: flagIn(config, 'compact', false),
});

export const readClouds = (config: Config) => ({
  ids: idsIn(config, 'instanceIds'),
  isCompact: flagIn(config, 'compact', false),
});

function numberIn<Fallback extends number | null>(config: Config, key: string, fallback: Fallback): number | Fallback {
  const value = config[key];
  return typeof value === 'number' ? value : fallback;
}

const textIn = (config: Config, key: string, fallback: string): string => {
  const value = config[key];
  return typeof value === 'string' ? value : fallback;
};

const flagIn = (config: Config, key: string, fallback: boolean): boolean => {
  const value = config[key];
  return typeof value === 'boolean' ? value : fallback;
};

const idsIn = (config: Config, key: string): string[] => {
  const value = config[key];
  return Array.isArray(value) ? value.filter((id) => typeof id === 'string') : [];
};
