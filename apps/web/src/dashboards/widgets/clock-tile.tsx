import { useMemo } from 'preact/hooks';
import { language, timeZone as berlin } from '../../language.ts';
import css from './clock.module.css';
import { readClock } from './configs.ts';
import type { TileProps } from './tile-props.ts';
import tile from './tile.module.css';
import { cityOf } from './time-zones.ts';
import { useNow } from './use-now.ts';

/** No live region: a screen reader says the time when it is asked, not each second. */
export function ClockTile({ config }: TileProps) {
  const { timeZone, showSeconds } = readClock(config);
  const now = useNow(showSeconds ? 1_000 : 60_000);
  const locale = language.value === 'de' ? 'de-DE' : 'en-GB';
  const format = useMemo(() => formatsOf(locale, timeZone, showSeconds), [locale, timeZone, showSeconds]);
  return (
    <div class={`${tile.tile} ${css.clock}`} data-seconds={showSeconds}>
      <time dateTime={new Date(now).toISOString()} title={zoneOf(format.zone, now)}>
        {format.time.format(now)}
      </time>
      <span class={css.date}>{format.date.format(now)}</span>
      {timeZone !== berlin && (
        <span class={tile.muted}>
          {cityOf(timeZone)}, {zoneOf(format.offset, now)}
        </span>
      )}
    </div>
  );
}

function formatsOf(locale: string, timeZone: string, showSeconds: boolean) {
  const format = (options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat(locale, { timeZone, ...options });
  return {
    time: format({ hour: '2-digit', minute: '2-digit', ...(showSeconds && { second: '2-digit' }) }),
    date: format({ weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' }),
    zone: format({ timeZoneName: 'long' }),
    offset: format({ timeZoneName: 'shortOffset' }),
  };
}

const zoneOf = (format: Intl.DateTimeFormat, now: number): string =>
  format.formatToParts(now).find(({ type }) => type === 'timeZoneName')?.value ?? '';
