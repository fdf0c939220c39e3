import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { dayAfterKey, pageFrom, type View } from './calendar-days.ts';

export interface DayFocus {
  /** The day that Tab reaches. */
  day: string;
  choose: (day: string) => void;
  /** What the element around the days listens to. A day has its date as `data-day`. */
  onGrid: { ref: { current: HTMLTableElement | null }; onKeyDown: (event: KeyboardEvent) => void };
}

interface Options {
  view: View;
  /** The day of the address. */
  day: string;
  days: readonly string[];
  /** Shows another page. */
  onLeave: (day: string) => void;
  onOpen: (day: string) => void;
}

/** The arrow keys and the keys for pages go from day to day, Enter opens one. */
export function useDayFocus({ view, day: base, days, onLeave, onOpen }: Options): DayFocus {
  const [chosen, setChosen] = useState({ base, day: base });
  const day = chosen.base === base && days.includes(chosen.day) ? chosen.day : base;
  const grid = useRef<HTMLTableElement>(null);
  const isMoving = useRef(false);

  // After the days of another page are drawn
  useLayoutEffect(() => {
    if (!isMoving.current) return;
    isMoving.current = false;
    grid.current?.querySelector<HTMLElement>(`[data-day="${day}"]`)?.focus();
  }, [day, base]);

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !(event.target instanceof HTMLElement)) return;
    const from = event.target.dataset['day'];
    if (from === undefined) return;
    if (event.key === 'Enter' || event.key === ' ') {
      event.preventDefault();
      onOpen(from);
      return;
    }
    const to = dayAfterKey(event.key, from, (pages) => pageFrom(view, from, pages));
    if (to === null) return;
    event.preventDefault();
    isMoving.current = true;
    const isOnPage = view === 'month' ? to.startsWith(base.slice(0, 7)) : days.includes(to);
    if (isOnPage) setChosen({ base, day: to });
    else onLeave(to);
  };

  return { day, choose: (wanted) => setChosen({ base, day: wanted }), onGrid: { ref: grid, onKeyDown } };
}
