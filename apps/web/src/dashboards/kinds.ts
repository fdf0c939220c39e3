import type { DashboardWidget } from '@portal/client/interface';
import type { Size } from '../grid/arrange.ts';
import { texts } from './texts.ts';
import { type WidgetKind, widgetKinds } from './widgets/registry.ts';

const byType: Readonly<Record<string, WidgetKind>> = widgetKinds;

/** Undefined for a type that only a newer version of the page knows. */
export const kindOf = ({ type }: Pick<DashboardWidget, 'type'>): WidgetKind | undefined =>
  Object.hasOwn(byType, type) ? byType[type] : undefined;

export function titleOf(widget: DashboardWidget): string {
  const kind = kindOf(widget);
  // A title that was left empty does not name the tile.
  return kind ? kind.title?.(widget.config) || kind.label() : texts.value.unknownTile;
}

const unknownSize: Size = { w: 6, h: 8, minW: 2, minH: 2 };

export const sizeOf = (widget: DashboardWidget): Size => kindOf(widget)?.size ?? unknownSize;
