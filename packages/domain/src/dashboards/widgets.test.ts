import { describe, expect, it } from 'vitest';
import { newId } from '../ids.ts';
import { checkConfig, checkWidgetType, NewWidget, type WidgetType, widgetTypes } from './widgets.ts';

const url = 'https://wetter.example.org/';
const id = newId();

it('has exactly the documented types', () => {
  expect(widgetTypes).toEqual([
    'favorites',
    'picture-frame',
    'embedded-page',
    'reminders',
    'clock',
    'notes',
    'calendar',
    'tender-radar',
    'virtualization-status',
    'backup-status',
    'mail-gateway-status',
    'cloud-status',
  ]);
  for (const type of ['', 'Clock', 'toString', '__proto__', 'weather']) {
    expect(() => checkWidgetType(type)).toThrow(expect.objectContaining({ code: 'INVALID_WIDGET_TYPE' }));
  }
});

describe('a configuration', () => {
  it.each(widgetTypes.filter((type) => type !== 'embedded-page'))(
    'of %s may be empty and refuses unknown keys',
    (type) => {
      expect(checkConfig(type, {})).toEqual({});
      expect(() => checkConfig(type, { color: 'red' })).toThrow(expect.objectContaining({ code: 'VALIDATION_FAILED' }));
    },
  );

  it.each<[WidgetType, Record<string, unknown>]>([
    ['favorites', { columns: 12, showLabels: false }],
    ['picture-frame', { imageIds: Array.from({ length: 30 }, newId), intervalSec: 0, fit: 'contain' }],
    ['picture-frame', { intervalSec: 3_600 }],
    ['embedded-page', { url, title: 'Wetter', reloadIntervalSec: 600 }],
    ['reminders', { showDone: true }],
    ['clock', { timeZone: 'Europe/Berlin', showSeconds: true }],
    ['notes', { text: 'eins\nzwei'.padEnd(10_000, '.') }],
    ['calendar', { sourceIds: [id], days: 31 }],
    ['tender-radar', { savedSearchId: id, limit: 20 }],
    ['virtualization-status', { serverIds: [id], compact: true }],
    ['backup-status', { serverIds: [], compact: true }],
    ['mail-gateway-status', { serverIds: [id] }],
    ['cloud-status', { instanceIds: [id], compact: false }],
  ])('of %s is stored unchanged', (type, config) => {
    expect(checkConfig(type, config)).toEqual(config);
  });

  it.each<[WidgetType, string, Record<string, unknown>]>([
    ['favorites', 'config.columns', { columns: 0 }],
    ['favorites', 'config.columns', { columns: 13 }],
    ['favorites', 'config.showLabels', { showLabels: null }],
    ['picture-frame', 'config.imageIds', { imageIds: Array.from({ length: 31 }, newId) }],
    ['picture-frame', 'config.imageIds.0', { imageIds: ['1'] }],
    ['picture-frame', 'config.intervalSec', { intervalSec: 4 }],
    ['picture-frame', 'config.intervalSec', { intervalSec: 3_601 }],
    ['picture-frame', 'config.fit', { fit: 'stretch' }],
    ['embedded-page', 'config.url', {}],
    ['embedded-page', 'config.url', { url: 'http://example.org' }],
    ['embedded-page', 'config.url', { url: 'javascript:alert(1)' }],
    ['embedded-page', 'config.url', { url: 'https://a:b@example.org' }],
    ['embedded-page', 'config.url', { url: 'https://a@example.org' }],
    ['embedded-page', 'config.url', { url: `${url}${'x'.repeat(2_048)}` }],
    ['embedded-page', 'config.title', { url, title: 'a\nb' }],
    ['embedded-page', 'config.reloadIntervalSec', { url, reloadIntervalSec: '60' }],
    ['clock', 'config.timeZone', { timeZone: 'Berlin' }],
    ['clock', 'config.timeZone', { timeZone: '+01:00' }],
    ['notes', 'config.text', { text: 'x'.repeat(10_001) }],
    ['calendar', 'config.days', { days: 32 }],
    ['tender-radar', 'config.limit', { limit: 21 }],
    ['tender-radar', 'config.savedSearchId', { savedSearchId: null }],
    ['cloud-status', 'config.instanceIds', { instanceIds: 'all' }],
  ])('of %s with a wrong %s is refused with the name of the field', (type, path, config) => {
    expect(() => checkConfig(type, config)).toThrow(
      expect.objectContaining({ code: 'VALIDATION_FAILED', details: [expect.objectContaining({ path })] }),
    );
    expect(NewWidget.safeParse({ type, config }).error?.issues.map((issue) => issue.path.join('.'))).toEqual([path]);
  });

  it('of an embedded page has its title cut to 100 whole characters', () => {
    expect(checkConfig('embedded-page', { url, title: ` ${'😀'.repeat(101)}` })).toEqual({
      url,
      title: '😀'.repeat(100),
    });
  });

  it.each([
    [-5, 0],
    [30, 0],
    [30.5, 60],
    [180, 60],
    [181, 300],
    [450, 300],
    [1_200, 600],
    [2_700, 1_800],
    [2_701, 3_600],
    [1e300, 3_600],
  ])('of an embedded page that reloads every %d s is rounded to %d', (reloadIntervalSec, kept) => {
    expect(checkConfig('embedded-page', { url, reloadIntervalSec })).toEqual({ url, reloadIntervalSec: kept });
  });
});
