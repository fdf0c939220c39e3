import { signal } from '@preact/signals';
import type { ComponentType } from 'preact';
import type { DashboardLayout, DashboardTab, DashboardWidget } from '@portal/client/interface';
import type { Breakpoint, Item, Layouts } from '../grid/breakpoints.ts';

/** What is shown, as of the last drawing. */
export interface View {
  tab: DashboardTab;
  tabs: readonly DashboardTab[];
  layout: DashboardLayout;
  widgets: readonly DashboardWidget[];
  breakpoint: Breakpoint;
  /** The places of all tiles shown. */
  items: readonly Item[];
}

/** What was changed in edit mode and is not saved yet. */
export interface Changes {
  tabId: string;
  /** The layout as it was read when editing began. */
  base: DashboardLayout;
  /** The breakpoints that were changed. */
  layouts: Partial<Layouts>;
  /** The widgets that go with the next save. */
  removed: ReadonlySet<string>;
}

/**
 * Not null while a dashboard is edited. It outlives the page: changes of a person who went elsewhere, such as by the Back button, are there
 * again on the dashboard.
 */
export const changes = signal<Changes | null>(null);

/** The parts that edit mode adds to the page. */
export interface Editor {
  /** Begins; `isAdding` offers the types of tiles at once. */
  begin: (isAdding: boolean) => void;
  Bar: ComponentType<{ breakpoint: Breakpoint }>;
  TileHead: ComponentType<{ widget: DashboardWidget; title: string; titleId: string }>;
  TileCorner: ComponentType<{ widget: DashboardWidget }>;
}
