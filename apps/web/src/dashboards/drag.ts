import { gapPx, type Item, rowPx } from '../grid/breakpoints.ts';
import { moveItem, resizeItem } from '../grid/move.ts';
import type { EditSession } from './edit-session.ts';

/** A press that moves less is a click. */
const startPx = 4;
/** Height of the zones at the edges of the window in which the page scrolls, and how far it scrolls in a frame at most. */
const edgePx = 112;
const scrollPx = 18;

/**
 * Drags a tile (`move`) or its corner (`resize`) until the pointer is released. Only styles of tiles that move are touched: the dragged
 * one follows the pointer, those that make room are shifted, and nothing is drawn anew until the tile is dropped.
 */
export function startDrag(event: PointerEvent, id: string, kind: 'move' | 'resize', session: EditSession): void {
  const handle = event.currentTarget;
  if (!(handle instanceof HTMLElement) || event.button !== 0 || !event.isPrimary) return;
  const base = session.items;
  const item = base.find(({ i }) => i === id);
  const grid = handle.closest<HTMLElement>('[data-grid]');
  if (!grid || !item || item.static) return;
  const { pointerId } = event;
  const { breakpoint } = session;
  const start = { x: event.clientX, y: event.clientY };
  const pointer = { ...start };
  const end = new AbortController();
  const { signal } = end;
  let drag: Drag | null = null;
  let frame = 0;

  const draw = () => {
    frame = 0;
    drag ??= openDrag(grid, base, item, kind, session.columns);
    // Near the edge the page goes on scrolling while the pointer rests.
    if (drag.follow(pointer.x - start.x, pointer.y - start.y, pointer.y)) frame = requestAnimationFrame(draw);
  };
  const finish = (isDropped: boolean) => {
    end.abort();
    cancelAnimationFrame(frame);
    const items = drag?.close();
    // A window that was made narrower meanwhile shows another arrangement.
    if (isDropped && items && session.breakpoint === breakpoint) session.dropDragged(id, items);
  };

  handle.setPointerCapture(pointerId);
  handle.addEventListener(
    'pointermove',
    ({ clientX, clientY }) => {
      Object.assign(pointer, { x: clientX, y: clientY });
      const isFar = Math.hypot(pointer.x - start.x, pointer.y - start.y) >= startPx;
      if ((drag || isFar) && frame === 0) frame = requestAnimationFrame(draw);
    },
    { signal },
  );
  handle.addEventListener('pointerup', () => finish(true), { signal });
  handle.addEventListener('lostpointercapture', () => finish(false), { signal });
  addEventListener(
    'keydown',
    (event) => {
      if (event.key !== 'Escape') return;
      event.preventDefault();
      event.stopPropagation();
      finish(false);
    },
    { signal, capture: true },
  );
}

interface Drag {
  /** Shows where the tile is; true while the page scrolls under it. */
  follow: (dx: number, dy: number, pointerY: number) => boolean;
  /** Takes back all styles. Returns the new places; null if nothing changed. */
  close: () => Item[] | null;
}

function openDrag(
  grid: HTMLElement,
  base: readonly Item[],
  item: Item,
  kind: 'move' | 'resize',
  columns: number,
): Drag {
  const tiles = new Map([...grid.children].map((tile) => [tile.getAttribute('data-tile'), tile as HTMLElement]));
  const tile = tiles.get(item.i);
  const target = grid.querySelector<HTMLElement>('[data-target]');
  const scroller = scrollerOf(grid);
  const startScroll = scroller.scrollTop;
  const columnPx = (grid.clientWidth + gapPx) / columns;
  const linePx = rowPx + gapPx;
  const left = item.x * columnPx;
  const top = item.y * linePx;
  const width = item.w * columnPx - gapPx;
  const height = item.h * linePx - gapPx;
  const maxDown = grid.clientHeight - height - top;
  const places = new Map(base.map((each) => [each.i, each]));
  const shifts = new Map<string, number>();
  let cell = '';
  let items: Item[] | null = null;

  grid.dataset['dragging'] = kind;
  if (tile) tile.dataset['dragged'] = '';

  /** The items of a cell; null while the pointer stays in it. */
  const itemsAt = (across: number, along: number, compute: () => Item[]): Item[] | null => {
    const next = `${across} ${along}`;
    if (next === cell) return null;
    cell = next;
    return compute();
  };

  const moveTo = (dx: number, dy: number) => {
    if (tile) tile.style.transform = `translate(${dx}px, ${dy}px)`;
    const x = Math.round((left + dx) / columnPx);
    const y = Math.round((top + dy) / linePx);
    return itemsAt(x, y, () => moveItem(base, columns, item.i, { x, y }));
  };

  const resizeTo = (dx: number, dy: number) => {
    if (tile) {
      tile.style.width = `${Math.max(width + dx, columnPx / 2)}px`;
      tile.style.height = `${Math.max(height + dy, linePx)}px`;
    }
    const w = Math.round((width + dx + gapPx) / columnPx);
    const h = Math.round((height + dy + gapPx) / linePx);
    return itemsAt(w, h, () => resizeItem(base, columns, item.i, { w, h }));
  };

  const shiftOthers = (next: readonly Item[]) => {
    for (const { i, y } of next) {
      const shift = (y - (places.get(i)?.y ?? y)) * linePx;
      if (i === item.i || shift === (shifts.get(i) ?? 0)) continue;
      shifts.set(i, shift);
      const style = tiles.get(i)?.style;
      if (style) style.transform = shift === 0 ? '' : `translateY(${shift}px)`;
    }
  };

  const showTarget = (next: readonly Item[]) => {
    const place = next.find(({ i }) => i === item.i);
    if (!target || !place) return;
    target.hidden = false;
    target.style.transform = `translate(${place.x * columnPx}px, ${place.y * linePx}px)`;
    target.style.width = `${place.w * columnPx - gapPx}px`;
    target.style.height = `${place.h * linePx - gapPx}px`;
  };

  return {
    follow(dx, dy, pointerY) {
      const before = scroller.scrollTop;
      const step = scrollStep(pointerY);
      if (step !== 0) scroller.scrollTop = before + step;
      const after = scroller.scrollTop;
      // A tile outside of the grid would make the page longer, and the page would scroll on for ever.
      const right = Math.min(dx, grid.clientWidth - left - width);
      const down = dy + after - startScroll;
      const next =
        kind === 'move' ? moveTo(Math.max(right, -left), within(down, -top, maxDown)) : resizeTo(right, down);
      if (next) {
        items = next;
        shiftOthers(next);
        showTarget(next);
      }
      return after !== before;
    },

    close() {
      delete grid.dataset['dragging'];
      for (const id of shifts.keys()) tiles.get(id)?.style.removeProperty('transform');
      for (const property of ['transform', 'width', 'height']) tile?.style.removeProperty(property);
      if (tile) delete tile.dataset['dragged'];
      if (target) target.hidden = true;
      const isChanged = items?.some(({ i, x, y, w, h }) => {
        const old = places.get(i);
        return !old || old.x !== x || old.y !== y || old.w !== w || old.h !== h;
      });
      return isChanged ? items : null;
    },
  };
}

const within = (value: number, min: number, max: number): number => Math.max(Math.min(value, max), min);

/** How far the page scrolls in this frame; faster the nearer the pointer is to the edge. */
function scrollStep(pointerY: number): number {
  const intoTop = edgePx - pointerY;
  const intoBottom = pointerY - (innerHeight - edgePx);
  const into = Math.max(intoTop, intoBottom);
  if (into <= 0) return 0;
  return Math.sign(intoBottom - intoTop) * Math.ceil((Math.min(into, edgePx) / edgePx) * scrollPx);
}

/** The part of the page that scrolls. */
function scrollerOf(element: HTMLElement): Element {
  for (let parent = element.parentElement; parent && parent !== document.body; parent = parent.parentElement) {
    const { overflowY } = getComputedStyle(parent);
    if (/auto|scroll/.test(overflowY) && parent.scrollHeight > parent.clientHeight) return parent;
  }
  return document.scrollingElement ?? document.documentElement;
}
