import { z } from 'zod';
import { invalid, PortalError } from '../errors.ts';
import { Id } from '../ids.ts';
import { jsonSchemaOf } from '../json-schema.ts';
import type { ModuleKey } from '../modules/modules.ts';
import { line, text } from '../text.ts';
import { HttpsAddress } from '../web-address.ts';

/** Seconds between two loads of an embedded page; 0 means never. */
const reloadIntervalsSec = [0, 60, 300, 600, 1_800, 3_600];

/** The nearest allowed interval; of two equally near, the lower. */
function nearestReloadInterval(seconds: number): number {
  // Far outside the range, all differences would round to the same number.
  const inRange = Math.min(Math.max(seconds, 0), 3_600);
  return reloadIntervalsSec.reduce((best, allowed) =>
    Math.abs(allowed - inRange) < Math.abs(best - inRange) ? allowed : best,
  );
}

const TimeZone = z
  .string()
  .max(100)
  .refine(isTimeZone, 'must be a time zone such as Europe/Berlin')
  .meta({ example: 'Europe/Berlin' });

const compact = z.boolean().optional().describe('Compact display: less text per row');
const ids = (max: number) => z.array(Id).max(max).optional();

const serverTile = z.strictObject({ serverIds: ids(500).describe('Ids to show; all if left out'), compact });

interface WidgetKind {
  /** Allowed configuration; it refuses unknown keys. */
  config: z.ZodObject;
  /** The module whose data the widget shows; a caller needs a grant of it to add the widget. Null if every user may. */
  module: ModuleKey | null;
}

/** Every widget type. A new type needs one entry here. */
export const widgetKinds = {
  favorites: {
    config: z.strictObject({ columns: z.int().min(1).max(12).optional(), showLabels: z.boolean().optional() }),
    module: null,
  },
  'picture-frame': {
    config: z.strictObject({
      imageIds: ids(30).describe('Ids of your own pictures'),
      intervalSec: z
        .union([z.literal(0), z.int().min(5).max(3_600)])
        .optional()
        .describe('Seconds until the next picture; 0 keeps showing the first one'),
      fit: z.enum(['cover', 'contain']).optional(),
    }),
    module: null,
  },
  'embedded-page': {
    config: z.strictObject({
      url: HttpsAddress,
      title: line(10_000)
        .overwrite((title) => [...title].slice(0, 100).join('').trim())
        .optional()
        .describe('Shortened to 100 characters'),
      reloadIntervalSec: z
        .number()
        .overwrite(nearestReloadInterval)
        .optional()
        .describe(
          `Seconds until the page is reloaded, rounded to the nearest of ${reloadIntervalsSec.join(', ')}; 0 means never`,
        ),
    }),
    module: null,
  },
  reminders: { config: z.strictObject({ showDone: z.boolean().optional() }), module: null },
  clock: {
    config: z.strictObject({ timeZone: TimeZone.optional(), showSeconds: z.boolean().optional() }),
    module: null,
  },
  notes: { config: z.strictObject({ text: text().optional() }), module: null },
  calendar: {
    config: z.strictObject({
      sourceIds: ids(100).describe('Ids of the calendars to show; all if left out'),
      days: z.int().min(1).max(31).optional(),
    }),
    module: 'calendar',
  },
  'tender-radar': {
    config: z.strictObject({ savedSearchId: Id.optional(), limit: z.int().min(1).max(20).optional() }),
    module: 'tender-radar',
  },
  'virtualization-status': { config: serverTile, module: 'virtualization' },
  'backup-status': { config: serverTile, module: 'virtualization' },
  'mail-gateway-status': { config: serverTile, module: 'virtualization' },
  'cloud-status': {
    config: z.strictObject({ instanceIds: ids(500).describe('Ids to show; all if left out'), compact }),
    module: 'cloud-status',
  },
} as const satisfies Record<string, WidgetKind>;

export type WidgetType = keyof typeof widgetKinds;
export const widgetTypes = Object.keys(widgetKinds) as WidgetType[];

const isWidgetType = (type: string): type is WidgetType => Object.hasOwn(widgetKinds, type);

/** Throws 400 `INVALID_WIDGET_TYPE`. */
export function checkWidgetType(type: string): asserts type is WidgetType {
  if (!isWidgetType(type)) {
    throw invalid('INVALID_WIDGET_TYPE', `There is no widget of this type. Types are ${widgetTypes.join(', ')}.`);
  }
}

/** A widget's configuration. The schemas of the types are only documented here; `parseConfig` checks a configuration. */
const WidgetConfig = z.record(z.string(), z.unknown()).meta({
  id: 'WidgetConfig',
  anyOf: widgetTypes.map((type) => ({ title: type, ...jsonSchemaOf(widgetKinds[type].config) })),
});
export type WidgetConfig = z.output<typeof WidgetConfig>;

const parseConfig = (type: WidgetType, config: WidgetConfig) => widgetKinds[type].config.safeParse(config);

/** The configuration as stored for a widget of this type. Throws 400 `VALIDATION_FAILED`. */
export function checkConfig(type: WidgetType, config: WidgetConfig): WidgetConfig {
  const parsed = parseConfig(type, config);
  if (parsed.success) return parsed.data;
  throw new PortalError('VALIDATION_FAILED', `A widget of type ${type} cannot be configured like this.`, {
    details: parsed.error.issues.map(({ path, message }) => ({ path: ['config', ...path].join('.'), message })),
  });
}

const example = { type: 'embedded-page', config: { url: 'https://wetter.example.org', reloadIntervalSec: 600 } };
const tabId = '0198d3c4-1c2d-7e3f-8a4b-5c6d7e8f9a0b';

const fields = {
  type: z.string().describe(`One of ${widgetTypes.join(', ')}`),
  config: WidgetConfig.default({}).describe('Required only for an embedded page, which needs its address'),
};

/** A widget to add. An unknown type passes, so that `checkWidgetType` can refuse it with its own code. */
export const NewWidget = z.object(fields).transform(configured).meta({ example });
/** The same, with the tab in the body. */
export const NewWidgetOfTab = z
  .object({ tabId: Id, ...fields })
  .transform(configured)
  .meta({ example: { tabId, ...example } });

function configured<Body extends { type: string; config: WidgetConfig }>(body: Body, check: z.RefinementCtx): Body {
  if (!isWidgetType(body.type)) return body;
  const parsed = parseConfig(body.type, body.config);
  if (parsed.success) return { ...body, config: parsed.data };
  for (const { path, message } of parsed.error.issues) {
    check.addIssue({ code: 'custom', path: ['config', ...path], message });
  }
  return z.NEVER;
}

/** A change of a widget. `checkConfig` later checks that the configuration fits the widget's type. */
export const WidgetChange = z
  .object({
    config: WidgetConfig.refine(
      (config) => widgetTypes.some((type) => parseConfig(type, config).success),
      'fits no type of widget',
    )
      .optional()
      .describe('Replaces the whole configuration'),
    tabId: Id.optional().describe('Moves the widget to this tab'),
  })
  .meta({ example: { config: { url: 'https://wetter.example.org', title: 'Wetter' } } });
export type WidgetChange = z.output<typeof WidgetChange>;

/** A widget as shown. */
export const DashboardWidget = z
  .object({ id: Id, type: z.string(), config: WidgetConfig })
  .meta({ id: 'DashboardWidget', example: { id: '0198d3c6-3e4f-7051-8c6d-7e8f9a0b1c2d', ...example } });
export type DashboardWidget = z.output<typeof DashboardWidget>;

function isTimeZone(name: string): boolean {
  try {
    new Intl.DateTimeFormat('en', { timeZone: name });
    // An offset such as +01:00 would pass but has no summer time.
    return /^[A-Za-z]/.test(name);
  } catch {
    return false;
  }
}
