import { useId } from 'preact/hooks';
import { formatDateTime, formatNumber } from '../language.ts';
import { lazy } from '../lazy.tsx';
import { alignPoints } from './align-points.ts';
import s from './chart.module.css';
import { texts } from './texts.ts';

export interface ChartSeries {
  label: string;
  points: readonly (readonly [atMs: number, value: number | null])[];
}

interface ChartProps {
  title: string;
  unit?: string | undefined;
  series: readonly ChartSeries[];
  height?: number | undefined;
}

const Plot = lazy(() => import('./plot.tsx').then(({ Plot }) => Plot));

/** Lines over time. Screen readers get the table of the same numbers instead. */
export function Chart({ title, unit = '', series, height = 200 }: ChartProps) {
  const id = useId();
  const aligned = alignPoints(series.map(({ points }) => points));
  const labels = series.map(({ label }) => label);
  return (
    <figure class={s.figure} aria-labelledby={id}>
      <figcaption id={id} dir="auto">
        {title}
      </figcaption>
      <div aria-hidden style={{ minHeight: height }}>
        <Plot labels={labels} unit={unit} aligned={aligned} height={height} />
      </div>
      <Numbers title={title} unit={unit} labels={labels} aligned={aligned} />
    </figure>
  );
}

interface NumbersProps {
  title: string;
  unit: string;
  labels: readonly string[];
  aligned: ReturnType<typeof alignPoints>;
}

function Numbers({ title, unit, labels, aligned: { times, values } }: NumbersProps) {
  const t = texts.value;
  return (
    <details class={s.numbers}>
      <summary>{t.asTable}</summary>
      <div role="region" aria-label={title} {...scrollable}>
        <table>
          <thead>
            <tr>
              <th scope="col">{t.time}</th>
              {labels.map((label) => (
                <th key={label} scope="col" dir="auto">
                  {label}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {times.map((time, row) => (
              <tr key={time}>
                <th scope="row">{formatDateTime(time)}</th>
                {labels.map((label, column) => (
                  <td key={label}>{shownValue(values[column]?.[row], unit, t.noValue)}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  );
}

// So that people can scroll with the keyboard.
const scrollable = { tabIndex: 0 };

const shownValue = (value: number | null | undefined, unit: string, none: string) =>
  value === null || value === undefined ? none : `${formatNumber(value)} ${unit}`.trim();
