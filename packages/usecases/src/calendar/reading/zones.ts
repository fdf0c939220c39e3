import ICAL from 'ical.js';
import { findIana } from 'windows-iana';
import { lastYear } from '@portal/domain/calendar/events';
import { outlookZone } from '@portal/domain/calendar/outlook-zones';
import { SECOND } from '@portal/domain/time';
import type { IcsCalendar } from './ics-lines.ts';

/**
 * A time zone. Wall times, which calendars use, are milliseconds as if they were UTC. A time the clock skips counts as an hour later; of
 * a time the clock shows twice, the first counts.
 */
export interface Zone {
  instantOf(wall: number): number;
}

/** Longest time zone name. */
const longestName = 255;

const named = new Map<string, Zone>();

/** The zone with this name in the runtime's database. */
function zoneNamed(name: string): Zone {
  const zone = named.get(name) ?? {
    instantOf: (wall) =>
      Temporal.Instant.fromEpochMilliseconds(wall)
        .toZonedDateTimeISO('UTC')
        .toPlainDateTime()
        .toZonedDateTime(name, { disambiguation: 'compatible' }).epochMilliseconds,
  };
  named.set(name, zone);
  return zone;
}

export const utc: Zone = { instantOf: (wall) => wall };

/** The zone of times without a zone or with an unknown one. */
export const berlin = zoneNamed('Europe/Berlin');

const ofFile = new WeakMap<IcsCalendar, Map<string, Zone | null>>();

/**
 * The zone a calendar means by a name (RFC 5545, 3.2.19): an IANA name, also with a prefix, a Windows name, a zone its file describes,
 * or one of Outlook's display names. Null for an unknown name, such as a localised Windows name that the file does not describe.
 */
export function zoneOf(name: string, calendar: IcsCalendar): Zone | null {
  const known = ofFile.get(calendar) ?? new Map<string, Zone | null>();
  ofFile.set(calendar, known);
  const found = known.get(name);
  if (found !== undefined) return found;
  const zone = name.length > longestName ? null : (clearZone(name) ?? describedZone(name, calendar) ?? shortZone(name));
  if (known.size < 1_000) known.set(name, zone);
  return zone;
}

/** The zone of an unambiguous name, which a description in the file cannot change. */
function clearZone(name: string): Zone | null {
  const parts = name.split('/').filter(Boolean);
  const candidates = [name, ...findIana(name).slice(0, 1), parts.slice(-3).join('/'), parts.slice(-2).join('/')];
  return firstOf(candidates.filter((one) => /^[A-Za-z_]+\/[\w+/-]+$|^(?:UTC|GMT)$/.test(one)));
}

/**
 * The zone of a name without a slash, such as `Japan`, `EST5EDT` or the end of `tzone://Microsoft/Utc`. A file's own description of the
 * name has priority.
 */
function shortZone(name: string): Zone | null {
  const last = name.split('/').at(-1) ?? '';
  // An offset would pass but has no summer time.
  return firstOf([outlookZone(name) ?? '', last].filter((one) => /^[A-Za-z]/.test(one)));
}

const firstOf = (names: readonly string[]): Zone | null => {
  const found = names.find(isZoneName);
  return found === undefined ? null : zoneNamed(found);
};

function isZoneName(name: string): boolean {
  try {
    Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name);
    return true;
  } catch {
    return false;
  }
}

/** Longest rule of a clock change; a longer one names every day of a year or every second of a day. */
const longestRule = 150;

/** A clock changes a few times a year by a few rules; a zone with more is refused as an attack. */
function isPlausible(zone: string): boolean {
  const rules = zone.match(/^RRULE.*$/gim) ?? [];
  return rules.length <= 20 && rules.every((rule) => /FREQ=YEARLY/i.test(rule) && rule.length <= longestRule);
}

/** The zone a VTIMEZONE describes. */
function describedZone(name: string, { zones }: IcsCalendar): Zone | null {
  const text = zones.get(name) ?? zones.get(`"${name}"`) ?? zones.get(name.replaceAll(/([,;])/g, '\\$1'));
  if (text === undefined || !isPlausible(text)) return null;
  try {
    const zone = new ICAL.Timezone(new ICAL.Component(ICAL.parse(text)));
    const described: Zone = {
      instantOf(wall) {
        const time = new Date(wall);
        const at = ICAL.Time.fromData({
          // No event is shown after that year, and each further year costs time.
          year: Math.min(time.getUTCFullYear(), lastYear),
          month: time.getUTCMonth() + 1,
          day: time.getUTCDate(),
          hour: time.getUTCHours(),
          minute: time.getUTCMinutes(),
          second: time.getUTCSeconds(),
        });
        return wall - zone.utcOffset(at) * SECOND;
      },
    };
    // ical.js parses the values only now, and any of them may be invalid.
    described.instantOf(Date.UTC(lastYear, 0));
    // Without any observance the zone would be UTC.
    return zone.changes.length === 0 ? null : described;
  } catch {
    return null;
  }
}
