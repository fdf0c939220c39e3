import { z } from 'zod';
import { Id } from '../ids.ts';
import { SecretInput, secretMask } from '../secret-input.ts';
import type { SecretTarget } from '../secret-target.ts';
import { line, requiredLine } from '../text.ts';
import { HttpsAddress } from '../web-address.ts';

/** Sources of one user. */
export const maxSources = 20;

export const CalendarKind = z.enum(['ics', 'caldav']).describe('`ics` an events file · `caldav` a calendar server');
export type CalendarKind = z.output<typeof CalendarKind>;

/** Why the portal could not read a calendar or store what it read. */
export const CalendarError = z
  .enum(['unreachable', 'unauthorized', 'notFound', 'certificate', 'timeout', 'invalid', 'storageFull'])
  .describe(
    '`unreachable` the server could not be reached, or it failed · `unauthorized` the server refused the sign-in · `notFound` there is no calendar at this address · `certificate` the server’s certificate is not valid · `timeout` the server was too slow · `invalid` not a calendar, larger than the limits, or with lines that cannot be read · `storageFull` the calendars of your company leave no space for the new version; delete calendars you no longer need, or publish a shorter one',
  );
export type CalendarError = z.output<typeof CalendarError>;

/** Calendar programs write `webcal://` for addresses they fetch over https. */
const withHttps = (address: unknown): unknown =>
  typeof address === 'string' ? address.trim().replace(/^webcals?:\/\//i, 'https://') : address;

/** The address of a calendar: https, with a host and without credentials. */
export const CalendarAddress = z
  .preprocess(withHttps, HttpsAddress)
  .meta({ format: 'uri', example: 'https://calendar.example.org/team/4f1c.ics' });

/** The page on which Nextcloud shows a public calendar. */
const nextcloudPage =
  /^(https:\/\/[^/?#]+(?:\/(?!index\.php\/|apps\/)[^/?#]+)*)(?:\/index\.php)?\/apps\/calendar\/p\/([^/?#]+)/i;

/** The address to fetch events from; for a Nextcloud page, that of the events file behind it. */
export function addressOf(kind: CalendarKind, address: string): string {
  const [, server, token] = (kind === 'ics' && nextcloudPage.exec(address)) || [];
  return server === undefined ? address : `${server}/remote.php/dav/public-calendars/${token}?export`;
}

/**
 * The address as shown to its owner. The address of an events file is enough to read the events, so it is a secret and only its server
 * is shown. The address of a calendar server is not a secret.
 */
export const shownAddress = (kind: CalendarKind, origin: string, address: () => string): string =>
  kind === 'ics' ? `${origin}/${secretMask}` : address();

/** Whether an address is a masked one, which stands for the stored address. */
export const isShownAddress = (address: string): boolean => URL.parse(address)?.pathname === `/${secretMask}`;

/** The target a source's secrets are sent to; the address of a file belongs to no account. */
export function sourceTarget(origin: string, account: string | null): SecretTarget {
  const { hostname, port } = new URL(origin);
  return {
    scheme: 'https',
    host: hostname,
    port: port === '' ? 443 : Number(port),
    account,
    encryption: 'tls',
    verifiesCertificate: true,
    authorities: null,
  };
}

const username = line()
  .nullable()
  .overwrite((value) => (value === '' ? null : value))
  .refine((value) => !value?.includes(':'), 'must not contain a colon')
  .describe('For calendars that need a sign-in');
const color = z
  .string()
  .regex(/^#[0-9a-f]{6}$/i, 'must be a color such as #3366cc')
  .meta({ example: '#3366cc' });

const example = {
  name: 'Team',
  kind: 'ics' as const,
  url: 'https://calendar.example.org/team/4f1c.ics',
  username: null,
  color: '#3366cc',
  isActive: true,
};

/** A new source. */
export const NewCalendarSource = z
  .object({
    name: requiredLine(),
    kind: CalendarKind,
    url: CalendarAddress.refine((url) => !isShownAddress(url), 'must be the whole address'),
    username: username.default(null),
    password: SecretInput,
    color: color.default('#3366cc'),
    isActive: z.boolean().default(true),
  })
  .meta({ example });
export type NewCalendarSource = z.output<typeof NewCalendarSource>;

const optionalAddress = z
  .union([z.literal(''), CalendarAddress])
  .optional()
  .describe('If missing, blank or sent as it was returned, the stored address is kept');

/** The fields of a source to change. */
export const CalendarSourceChange = z
  .object({
    name: requiredLine().optional(),
    kind: CalendarKind.optional(),
    url: optionalAddress,
    username: username.optional(),
    password: SecretInput,
    color: color.optional(),
    isActive: z.boolean().optional(),
  })
  .meta({ example: { name: 'Team Nord', color: '#cc6633' } });
export type CalendarSourceChange = z.output<typeof CalendarSourceChange>;

/** A source to test before it is saved. */
export const CalendarSourceTest = z
  .object({
    id: Id.nullish().describe('Id of a stored calendar whose address and password are used for blank ones'),
    kind: CalendarKind,
    url: optionalAddress,
    username: username.optional(),
    password: SecretInput,
  })
  .meta({ example: { kind: example.kind, url: example.url } });
export type CalendarSourceTest = z.output<typeof CalendarSourceTest>;

/** A source as shown to its owner. */
export const CalendarSource = z
  .object({
    id: Id,
    name: z.string(),
    kind: CalendarKind,
    url: z.string().describe('For an events file, only the server: the full address is a secret'),
    username: z.string().nullable(),
    hasPassword: z.boolean(),
    color: z.string(),
    isActive: z.boolean(),
  })
  .meta({
    id: 'CalendarSource',
    example: {
      id: '0198d3e1-7a8b-7c9d-8e0f-1a2b3c4d5e6f',
      ...example,
      url: `https://calendar.example.org/${secretMask}`,
      hasPassword: false,
    },
  });
export type CalendarSource = z.output<typeof CalendarSource>;

/** The result of testing a source. */
export const CalendarTestResult = z
  .object({
    ok: z.boolean(),
    error: CalendarError.nullable(),
    calendars: z
      .array(z.object({ name: z.string(), url: z.string() }))
      .optional()
      .describe('Calendars of a calendar server that contain events; each address can be added as a calendar'),
  })
  .meta({
    id: 'CalendarTestResult',
    example: {
      ok: true,
      error: null,
      calendars: [{ name: 'Dienstlich', url: 'https://cloud.example.org/remote.php/dav/calendars/ada/personal/' }],
    },
  });
export type CalendarTestResult = z.output<typeof CalendarTestResult>;
