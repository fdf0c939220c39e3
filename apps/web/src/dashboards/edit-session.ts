import { signal } from '@preact/signals';
import type { MutableRef } from 'preact/hooks';
import type { DashboardTab, DashboardWidget } from '@portal/client/interface';
import { newItem } from '../grid/arrange.ts';
import { type Breakpoint, columnsOf, type Item, type Layouts } from '../grid/breakpoints.ts';
import { type Direction, moveItem, nextTarget, resizeItem } from '../grid/move.ts';
import { addItem, compact } from '../grid/place.ts';
import { portal } from '../portal.ts';
import { showToast } from '../ui/toast.tsx';
import { type Changes, changes, type View } from './board.ts';
import { texts } from './edit-texts.ts';
import { sizeOf, titleOf } from './kinds.ts';
import { forgetBoard, moveWidget, readBoard, removeWidget, saveLayout, showLayout, showWidgets } from './queries.ts';

export type OpenDialog =
  | { kind: 'add' | 'conflict' | 'newerGrid' }
  | { kind: 'configure' | 'moveToTab'; widget: DashboardWidget }
  | { kind: 'leave'; href: string }
  | { kind: 'failed'; error: unknown };

/** A tile that the keyboard has grabbed. */
interface Held {
  id: string;
  breakpoint: Breakpoint;
  /** What Escape brings back. */
  before: Changes;
  /** The items when this movement began, from which all its steps are computed. */
  base: readonly Item[];
  isResizing: boolean;
  target: { x: number; y: number };
}

/**
 * Everything that happens in edit mode. Places and removals wait in `changes` until they are saved; widgets are added, configured and
 * moved to another dashboard at once.
 */
export class EditSession {
  readonly view: MutableRef<View | null>;
  readonly dialog = signal<OpenDialog | null>(null);
  /** Id of the tile that the keyboard has grabbed. */
  readonly grabbedId = signal<string | null>(null);
  /** What screen readers say. */
  readonly spoken = signal('');
  /** The tile that was added last; it takes the focus when it appears. */
  addedId: string | null = null;
  #held: Held | null = null;

  constructor(view: MutableRef<View | null>) {
    this.view = view;
  }

  get items(): readonly Item[] {
    return this.view.current?.items ?? [];
  }

  get breakpoint(): Breakpoint {
    return this.view.current?.breakpoint ?? 'lg';
  }

  get columns(): number {
    return columnsOf[this.breakpoint];
  }

  get isDirty(): boolean {
    const { value } = changes;
    return value !== null && (Object.keys(value.layouts).length > 0 || value.removed.size > 0);
  }

  begin(isAdding: boolean): void {
    const { current } = this.view;
    if (!current) return;
    changes.value = { tabId: current.tab.id, base: current.layout, layouts: {}, removed: new Set() };
    this.dialog.value = isAdding ? { kind: 'add' } : null;
    this.#release();
  }

  open(dialog: OpenDialog): void {
    this.drop();
    this.dialog.value = dialog;
  }

  close(): void {
    this.dialog.value = null;
  }

  end(): void {
    this.#release();
    this.close();
    changes.value = null;
  }

  discard(): void {
    const discarded = changes.value;
    const wasDirty = this.isDirty;
    this.end();
    if (!wasDirty) return;
    const undo = () => {
      // The person may have gone on to another dashboard, or begun anew.
      if (!changes.value && this.view.current?.tab.id === discarded?.tabId) changes.value = discarded;
    };
    showToast(texts.value.discarded, { undo });
  }

  /** New places at the current breakpoint. */
  arrange(items: readonly Item[]): void {
    const { value } = changes;
    const breakpoint = this.view.current?.breakpoint;
    if (value && breakpoint) {
      changes.value = { ...value, layouts: { ...value.layouts, [breakpoint]: [...items] } };
    }
  }

  /** A tile was dragged to a new place or size. */
  dropDragged(id: string, items: readonly Item[]): void {
    this.arrange(items);
    this.#sayPlace('dropped', id, items);
  }

  // By keyboard

  /** Grabs the tile, or drops it if it is grabbed. */
  toggle(id: string): void {
    if (this.grabbedId.value === id) {
      this.drop();
      return;
    }
    const item = this.items.find(({ i }) => i === id);
    const { current } = this.view;
    const before = changes.value;
    if (!item || item.static || !current || !before) return;
    const { breakpoint } = current;
    this.#held = { id, breakpoint, before, base: this.items, isResizing: false, target: item };
    this.grabbedId.value = id;
    this.#sayPlace('grabbed', id);
  }

  drop(): void {
    const held = this.#release();
    if (held) this.#sayPlace('dropped', held.id);
  }

  revert(): void {
    const held = this.#release();
    if (!held) return;
    changes.value = held.before;
    this.#sayPlace('reverted', held.id, held.base);
  }

  /** An arrow key while a tile is grabbed. */
  press(direction: Direction, isResizing: boolean): void {
    const held = this.#held;
    if (!held || held.breakpoint !== this.view.current?.breakpoint) {
      this.drop();
      return;
    }
    const item = this.items.find(({ i }) => i === held.id);
    if (!item) return;
    if (isResizing !== held.isResizing) {
      Object.assign(held, { isResizing, base: this.items, target: item } satisfies Partial<Held>);
    }
    if (isResizing) {
      const { w, h } = stepped({ w: item.w, h: item.h }, direction);
      this.#resize(item, held.base, { w, h });
      return;
    }
    const target = nextTarget(held.base, this.columns, held.id, held.target, direction);
    if (target) held.target = target;
    this.#move(item, held.base, target);
  }

  // By menu

  /** A step of about a twelfth of the width, or past the next tile above or below. */
  step(id: string, direction: Direction): void {
    const item = this.items.find(({ i }) => i === id);
    if (!item) return;
    if (direction === 'up' || direction === 'down') {
      this.#move(item, this.items, nextTarget(this.items, this.columns, id, item, direction));
      return;
    }
    const x = item.x + (direction === 'left' ? -1 : 1) * this.#stepColumns;
    const inside = Math.min(Math.max(x, 0), this.columns - item.w);
    this.#move(item, this.items, inside === item.x ? null : { x: inside, y: item.y });
  }

  resizeBy(id: string, columns: -1 | 0 | 1, rows: -1 | 0 | 1): void {
    const item = this.items.find(({ i }) => i === id);
    if (!item) return;
    const rowStep = 2;
    this.#resize(item, this.items, { w: item.w + columns * this.#stepColumns, h: item.h + rows * rowStep });
  }

  remove(widget: DashboardWidget): void {
    const { value } = changes;
    const item = this.items.find(({ i }) => i === widget.id);
    if (!value) return;
    this.#release();
    changes.value = { ...value, removed: new Set([...value.removed, widget.id]) };
    showToast(texts.value.removed(titleOf(widget)), { undo: () => this.#restore(widget.id, item, value.tabId) });
  }

  #restore(id: string, item: Item | undefined, tabId: string): void {
    const { value } = changes;
    const breakpoint = this.view.current?.breakpoint;
    if (value?.tabId !== tabId || !breakpoint) return;
    changes.value = { ...value, removed: new Set([...value.removed].filter((other) => other !== id)) };
    // What was arranged meanwhile has no place for it.
    const arranged = value.layouts[breakpoint];
    if (item && arranged && !arranged.some(({ i }) => i === id)) this.#putBack(item);
  }

  #putBack(item: Item): void {
    const others = this.items.filter(({ i }) => i !== item.i);
    this.arrange(compact([item, ...others], this.columns));
  }

  // Widgets

  async add(type: string, config: Record<string, unknown>): Promise<void> {
    const { current } = this.view;
    if (!current) return;
    const { tab, breakpoint } = current;
    const widget = await portal.post('/dashboard/tabs/{id}/widgets', {
      params: { path: { id: tab.id } },
      body: { type, config },
    });
    showWidgets(tab.id, (widgets) => [...widgets, widget]);
    const items = addItem(this.items, columnsOf[breakpoint], newItem(widget.id, sizeOf(widget), breakpoint));
    this.addedId = widget.id;
    this.arrange(items);
    this.#sayPlace('added', widget.id, items, titleOf(widget));
  }

  async moveToTab(widget: DashboardWidget, to: DashboardTab): Promise<void> {
    const from = this.view.current?.tab;
    if (!from) return;
    const item = this.items.find(({ i }) => i === widget.id);
    await moveWidget(widget.id, to.id);
    forgetBoard(to.id);
    showWidgets(from.id, (widgets) => widgets.filter(({ id }) => id !== widget.id));
    await this.#adoptLayout(from.id);
    const t = texts.value;
    const title = titleOf(widget);
    const undo = async () => {
      try {
        await moveWidget(widget.id, from.id);
        forgetBoard(to.id);
        await readBoard(from.id);
        if (item && changes.value?.tabId === from.id) this.#putBack(item);
      } catch {
        showToast(t.moveBackFailed(title), { kind: 'error' });
      }
    };
    showToast(t.movedToTab(title, to.name), { undo: () => void undo() });
  }

  /** A move to another dashboard raises the revision by one. More means that something else changed, too, which saving has to find. */
  async #adoptLayout(tabId: string): Promise<void> {
    const { layout } = await readBoard(tabId);
    const { value } = changes;
    if (value?.tabId === tabId && layout.revision <= value.base.revision + 1)
      changes.value = { ...value, base: layout };
  }

  // Saving

  /** Sends the changed breakpoints, then removes widgets, and ends edit mode. */
  async save(): Promise<void> {
    const { current } = this.view;
    const { value } = changes;
    if (!current || !value) return;
    const { tabId } = value;
    if (Object.keys(value.layouts).length > 0) {
      const ids = new Set(current.widgets.map(({ id }) => id).filter((id) => !value.removed.has(id)));
      const layout = await saveLayout(tabId, value.base, withoutOthers(value.layouts, ids));
      changes.value = { ...value, base: layout, layouts: {} };
      showLayout(tabId, layout);
    }
    for (const id of value.removed) {
      await removeWidget(id);
      showWidgets(tabId, (widgets) => widgets.filter((widget) => widget.id !== id));
    }
    // Each removal changed the revision.
    if (value.removed.size > 0) await readBoard(tabId);
    const wasDirty = Object.keys(value.layouts).length > 0 || value.removed.size > 0;
    this.end();
    if (wasDirty) showToast(texts.value.saved, { kind: 'success' });
  }

  /** The dashboard was changed elsewhere: saves what was arranged here over it. */
  async keepMine(): Promise<void> {
    const tabId = changes.value?.tabId;
    if (tabId === undefined) return;
    const { layout, widgets } = await readBoard(tabId);
    const { value } = changes;
    const { current } = this.view;
    if (!value || !current) return;
    this.view.current = { ...current, widgets };
    changes.value = { ...value, base: layout };
    await this.save();
  }

  async takeTheirs(): Promise<void> {
    const { value } = changes;
    if (value) await readBoard(value.tabId);
    this.end();
  }

  // The last word

  say(text: string): void {
    // The same words a second time would stay silent.
    this.spoken.value = text === this.spoken.value ? `${text}\u00a0` : text;
  }

  #sayPlace(
    words: 'grabbed' | 'dropped' | 'reverted' | 'placed' | 'added',
    id: string,
    items: readonly Item[] = this.items,
    title = this.#titleOf(id),
  ): void {
    const t = texts.value;
    const item = items.find(({ i }) => i === id);
    if (item) this.say(t[words](title, t.place(item.x + 1, item.y + 1)));
  }

  #titleOf(id: string): string {
    const widget = this.view.current?.widgets.find((each) => each.id === id);
    return widget ? titleOf(widget) : '';
  }

  get #stepColumns(): number {
    return Math.max(Math.round(this.columns / 12), 1);
  }

  #move(item: Item, base: readonly Item[], target: { x: number; y: number } | null): void {
    if (!target) {
      this.say(texts.value.atEdge(this.#titleOf(item.i)));
      return;
    }
    const items = moveItem(base, this.columns, item.i, target);
    this.arrange(items);
    this.#sayPlace('placed', item.i, items);
  }

  #resize(item: Item, base: readonly Item[], size: { w: number; h: number }): void {
    const t = texts.value;
    const title = this.#titleOf(item.i);
    const items = resizeItem(base, this.columns, item.i, size);
    const resized = items.find(({ i }) => i === item.i);
    if (!resized || (resized.w === item.w && resized.h === item.h)) {
      this.say(t.atEdge(title));
      return;
    }
    this.arrange(items);
    this.say(t.placed(title, t.size(resized.w, resized.h)));
  }

  #release(): Held | null {
    const held = this.#held;
    this.#held = null;
    this.grabbedId.value = null;
    return held;
  }
}

const stepped = ({ w, h }: { w: number; h: number }, direction: Direction): { w: number; h: number } => ({
  w: w + (direction === 'right' ? 1 : direction === 'left' ? -1 : 0),
  h: h + (direction === 'down' ? 1 : direction === 'up' ? -1 : 0),
});

/** The service refuses items of widgets that are gone. */
const withoutOthers = (layouts: Partial<Layouts>, ids: ReadonlySet<string>): Partial<Layouts> =>
  Object.fromEntries(
    Object.entries(layouts).map(([breakpoint, items]) => [breakpoint, items.filter(({ i }) => ids.has(i))]),
  );
