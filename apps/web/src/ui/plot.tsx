import { useEffect, useRef, useState } from 'preact/hooks';
import UPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { formatDate, formatNumber, formatTime, language, timeZone } from '../language.ts';
import type { AlignedPoints } from './align-points.ts';
import s from './chart.module.css';
import { texts } from './texts.ts';

interface PlotProps {
  labels: readonly string[];
  unit: string;
  aligned: AlignedPoints;
  height: number;
}

/** The lines and their legend. The legend tells the values under the pointer, or the latest ones. */
export function Plot({ labels, unit, aligned, height }: PlotProps) {
  const place = useRef<HTMLDivElement>(null);
  const plot = useRef<UPlot | null>(null);
  const [pointed, setPointed] = useState<number | null>(null);
  const look = useLook();
  const { times, values } = aligned;

  useEffect(() => {
    const { current } = place;
    if (!current) return undefined;
    const drawn = new UPlot(
      { ...optionsFor(current, labels, unit), width: current.clientWidth, height, hooks: { setCursor: [onCursor] } },
      dataOf(aligned),
      current,
    );
    function onCursor({ cursor: { idx } }: UPlot) {
      setPointed(idx ?? null);
    }
    plot.current = drawn;
    const observer = new ResizeObserver(() => drawn.setSize({ width: current.clientWidth, height }));
    observer.observe(current);
    return () => {
      observer.disconnect();
      drawn.destroy();
      plot.current = null;
    };
  }, [labels.join('\n'), unit, height, look, language.value]);

  useEffect(() => plot.current?.setData(dataOf(aligned)), [aligned]);

  const at = pointed ?? times.length - 1;
  const time = times[at];
  return (
    <>
      <div ref={place} />
      <ul class={s.legend}>
        {time !== undefined && (
          <li>
            {formatDate(time)}, {formatTime(time)}
          </li>
        )}
        {labels.map((label, index) => (
          <li key={label}>
            <svg width="24" height="2">
              <line
                x2="24"
                y1="1"
                y2="1"
                stroke={`var(${lineAt(index).color})`}
                stroke-width="2"
                stroke-dasharray={lineAt(index).dash.join(' ')}
              />
            </svg>
            <span dir="auto">{label}</span>
            <strong>{shownValue(values[index]?.[at], unit)}</strong>
          </li>
        ))}
      </ul>
    </>
  );
}

const shownValue = (value: number | null | undefined, unit: string) =>
  value === null || value === undefined ? texts.value.noValue : `${formatNumber(value)} ${unit}`.trim();

const dataOf = ({ times, values }: AlignedPoints): UPlot.AlignedData => [times, ...values];

// Told apart by colour and by dashes.
const lines = [
  { color: '--accent-text', dash: [] },
  { color: '--text-muted', dash: [6, 3] },
  { color: '--warning', dash: [2, 2] },
  { color: '--ok', dash: [8, 3, 2, 3] },
  { color: '--error', dash: [12, 4] },
];

const lineAt = (index: number) => lines[index % lines.length] ?? { color: '--text', dash: [] };

function optionsFor(
  place: HTMLElement,
  labels: readonly string[],
  unit: string,
): Omit<UPlot.Options, 'width' | 'height'> {
  const text = colorOf(place, '--text-muted');
  const grid = { stroke: colorOf(place, '--border'), width: 1 };
  const { fontFamily } = getComputedStyle(place);
  const axis = { stroke: text, grid, ticks: grid, font: `12px ${fontFamily}` };
  return {
    ms: 1,
    tzDate: (at) => UPlot.tzDate(new Date(at), timeZone),
    legend: { show: false },
    cursor: { drag: { x: false, y: false }, points: { size: 6 } },
    series: [
      {},
      ...labels.map((label, index) => {
        const { color, dash } = lineAt(index);
        return { label, stroke: colorOf(place, color), width: 2, dash, points: { show: false } };
      }),
    ],
    axes: [
      { ...axis, values: (_plot, ticks, _axis, _space, stepMs) => ticks.map((at) => timeLabel(at, stepMs)) },
      { ...axis, size: 64, values: (_plot, ticks) => ticks.map((value) => `${formatNumber(value, 2)} ${unit}`.trim()) },
    ],
  };
}

const dayMs = 86_400_000;
const timeLabel = (at: number, stepMs: number) => (stepMs < dayMs ? formatTime(at) : formatDate(at));

/** A token as a colour that a canvas understands. */
function colorOf(place: HTMLElement, token: string): string {
  const probe = document.createElement('i');
  probe.style.color = `var(${token})`;
  place.append(probe);
  const { color } = getComputedStyle(probe);
  probe.remove();
  return color;
}

/** Changes when the theme or the accent does. */
function useLook(): number {
  const [look, setLook] = useState(0);
  useEffect(() => {
    const change = () => setLook((count) => count + 1);
    const dark = matchMedia('(prefers-color-scheme: dark)');
    dark.addEventListener('change', change);
    const observer = new MutationObserver(change);
    observer.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme', 'style'] });
    return () => {
      dark.removeEventListener('change', change);
      observer.disconnect();
    };
  }, []);
  return look;
}
