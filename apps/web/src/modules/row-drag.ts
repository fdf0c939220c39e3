import type { RefObject } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { placeAt } from '../dashboards/widgets/favorites-order.ts';

interface Held {
  id: string;
  place: number;
}

interface RowDrag {
  /** What the row at this place shows while one is dragged. */
  row: (id: string, place: number) => { 'data-id': string; 'data-held'?: true; 'data-drop'?: 'before' | 'after' };
  /** Goes onto the handle of a row. */
  grip: (id: string) => object;
}

/** Moves rows of a list by their handle. The rows stay where they are until the drop: an element that moves in the document loses the pointer. */
export function useRowDrag(
  list: RefObject<HTMLElement>,
  ids: readonly string[],
  onMove: (from: number, to: number) => void,
): RowDrag {
  const [held, setHeld] = useState<Held | null>(null);
  const from = held ? ids.indexOf(held.id) : -1;
  const isHeld = held !== null;
  useEffect(() => {
    if (!isHeld) return undefined;
    const giveUp = ({ key }: KeyboardEvent) => {
      if (key === 'Escape') setHeld(null);
    };
    addEventListener('keydown', giveUp);
    return () => removeEventListener('keydown', giveUp);
  }, [isHeld]);
  return {
    row: (id, place) => ({
      'data-id': id,
      ...(held?.id === id && { 'data-held': true as const }),
      ...(held?.place === place && place !== from && { 'data-drop': place < from ? 'before' : ('after' as const) }),
    }),
    grip: (id) => ({
      onPointerDown: (event: PointerEvent & { currentTarget: HTMLElement }) => {
        if (event.button !== 0) return;
        event.preventDefault();
        event.currentTarget.setPointerCapture(event.pointerId);
        setHeld({ id, place: ids.indexOf(id) });
      },
      onPointerMove: ({ clientY }: PointerEvent) => {
        if (held?.id !== id || !list.current) return;
        const middles = [...list.current.querySelectorAll('[data-id]')].map((row) => {
          const { top, height } = row.getBoundingClientRect();
          return top + height / 2;
        });
        const place = Math.min(placeAt(clientY, middles, from), ids.length - 1);
        if (place !== held.place) setHeld({ id, place });
      },
      onPointerUp: () => {
        if (held?.id === id && held.place !== from) onMove(from, held.place);
        setHeld(null);
      },
      onPointerCancel: () => setHeld(null),
    }),
  };
}
