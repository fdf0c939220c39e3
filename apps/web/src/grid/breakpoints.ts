import type { DashboardLayout } from '@portal/client/interface';

export type Layouts = DashboardLayout['layouts'];
export type Breakpoint = keyof Layouts;
/** The place of a tile in cells, counted from the upper left corner. */
export type Item = Layouts['lg'][number];

/** The grid this page knows. It shows layouts of a newer one but does not change them. */
export const gridVersion = 2;
export const rowPx = 20;
export const gapPx = 8;

export const columnsOf: Record<Breakpoint, number> = { lg: 24, md: 20, sm: 12, xs: 8, xxs: 2 };

/** From wide to narrow. */
export const breakpoints: readonly Breakpoint[] = ['lg', 'md', 'sm', 'xs', 'xxs'];

/** Width of the dashboard from which a breakpoint holds. */
const fromPx: Record<Breakpoint, number> = { lg: 1_100, md: 900, sm: 680, xs: 440, xxs: 0 };

export const breakpointAt = (widthPx: number): Breakpoint =>
  breakpoints.find((breakpoint) => widthPx >= fromPx[breakpoint]) ?? 'xxs';
