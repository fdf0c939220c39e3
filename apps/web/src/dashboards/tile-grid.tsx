import { CircleX, Puzzle, RotateCw } from 'lucide';
import { Component, type ComponentChildren } from 'preact';
import { useId, useRef } from 'preact/hooks';
import type { DashboardWidget } from '@portal/client/interface';
import { type Breakpoint, columnsOf, gapPx, type Item, rowPx } from '../grid/breakpoints.ts';
import { Button } from '../ui/button.tsx';
import { Icon } from '../ui/icon.tsx';
import type { Editor } from './board.ts';
import { kindOf, titleOf } from './kinds.ts';
import { texts } from './texts.ts';
import css from './tile-grid.module.css';

interface TileGridProps {
  widgets: readonly DashboardWidget[];
  items: readonly Item[];
  breakpoint: Breakpoint;
  editor: Editor | null;
}

/** All tiles in their places. A tile is drawn again only if its place, its widget or the mode changes. */
export function TileGrid({ widgets, items, breakpoint, editor }: TileGridProps) {
  const order = useOrder(
    items.map(({ i }) => i),
    editor !== null,
  );
  const byId = new Map(widgets.map((widget) => [widget.id, widget]));
  const areas = new Map(items.map((item) => [item.i, areaOf(item)]));
  return (
    <div
      class={css.grid}
      data-grid
      data-editing={editor !== null}
      style={{
        gridTemplateColumns: `repeat(${columnsOf[breakpoint]}, minmax(0, 1fr))`,
        gridAutoRows: `${rowPx}px`,
        gap: `${gapPx}px`,
      }}
    >
      {order.map((id) => {
        const widget = byId.get(id);
        const area = areas.get(id);
        if (!widget || area === undefined) return null;
        return (
          <Still key={id} on={[widget, area, editor]}>
            {() => <Tile widget={widget} area={area} editor={editor} />}
          </Still>
        );
      })}
      {editor && <div class={css.target} data-target hidden />}
    </div>
  );
}

const areaOf = ({ x, y, w, h }: Item): string => `${y + 1} / ${x + 1} / span ${h} / span ${w}`;

/**
 * The ids in the order of the document, which is the order of reading. While tiles are being moved they keep their order: a tile that
 * moves in the document loses the focus, and an embedded page in it loads again.
 */
function useOrder(ids: readonly string[], isFixed: boolean): readonly string[] {
  const order = useRef(ids);
  if (isFixed) {
    const known = new Set(order.current);
    order.current = [...order.current, ...ids.filter((id) => !known.has(id))];
  } else {
    order.current = ids;
  }
  return order.current;
}

interface StillProps {
  on: readonly unknown[];
  children: () => ComponentChildren;
}

/** Draws its content again only if one of the values in `on` differs. */
class Still extends Component<StillProps> {
  override shouldComponentUpdate({ on }: StillProps): boolean {
    return on.some((value, index) => value !== this.props.on[index]);
  }

  override render() {
    return this.props.children();
  }
}

function Tile({ widget, area, editor }: { widget: DashboardWidget; area: string; editor: Editor | null }) {
  const titleId = useId();
  const title = titleOf(widget);
  const isEditing = editor !== null;
  return (
    <article class={css.tile} data-tile={widget.id} style={{ gridArea: area }} aria-labelledby={titleId}>
      <header class={css.head}>
        {/* In edit mode the heading contains the handle. */}
        {editor ? (
          <editor.TileHead widget={widget} title={title} titleId={titleId} />
        ) : (
          <h2 id={titleId} class={css.title} dir="auto" title={title}>
            {title}
          </h2>
        )}
      </header>
      <div class={css.body}>
        <Still on={[widget, isEditing]}>
          {() => (
            <Sheltered>
              <Content widget={widget} isEditing={isEditing} />
            </Sheltered>
          )}
        </Still>
      </div>
      {editor && <editor.TileCorner widget={widget} />}
    </article>
  );
}

function Content({ widget, isEditing }: { widget: DashboardWidget; isEditing: boolean }) {
  const t = texts.value;
  const kind = kindOf(widget);
  if (kind) return <kind.Tile id={widget.id} config={widget.config} isEditing={isEditing} />;
  return (
    <div class={css.message}>
      <Icon icon={Puzzle} size={24} />
      <p>{t.unknownTileText(widget.type)}</p>
    </div>
  );
}

/** Keeps a failure inside one tile. */
class Sheltered extends Component<{ children: ComponentChildren }, { hasFailed: boolean }> {
  override state = { hasFailed: false };

  /** The tile is drawn with another configuration, which may work. */
  override componentWillReceiveProps(): void {
    this.setState({ hasFailed: false });
  }

  override componentDidCatch(): void {
    this.setState({ hasFailed: true });
  }

  override render() {
    if (!this.state.hasFailed) return this.props.children;
    const t = texts.value;
    return (
      <div class={css.message} role="status">
        <Icon icon={CircleX} size={24} />
        <p>{t.tileFailed}</p>
        <Button size="small" icon={RotateCw} onClick={() => this.setState({ hasFailed: false })}>
          {t.retry}
        </Button>
      </div>
    );
  }
}
