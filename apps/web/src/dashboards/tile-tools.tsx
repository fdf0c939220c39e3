import {
  ArrowDown,
  ArrowLeft,
  ArrowRight,
  ArrowUp,
  ChevronsDownUp,
  ChevronsLeftRight,
  ChevronsRightLeft,
  ChevronsUpDown,
  EllipsisVertical,
  GripVertical,
  LayoutDashboard,
  Settings,
  Trash2,
} from 'lucide';
import { useEffect, useRef } from 'preact/hooks';
import type { DashboardWidget } from '@portal/client/interface';
import type { Direction } from '../grid/move.ts';
import { Icon } from '../ui/icon.tsx';
import { Menu } from '../ui/menu.tsx';
import { startDrag } from './drag.ts';
import css from './edit-mode.module.css';
import type { EditSession } from './edit-session.ts';
import { texts } from './edit-texts.ts';
import { kindOf } from './kinds.ts';

/** Id of the sentence that explains the keys, which all handles share. */
export const handleHintId = 'tile-handle-hint';
export const addButtonId = 'edit-add-tile';

const elementOf = (id: string) => document.querySelector(`[data-tile="${id}"]`);

/** Scrolls to a tile that was moved, once it is in its new place. */
const follow = (id: string) => void requestAnimationFrame(() => elementOf(id)?.scrollIntoView({ block: 'nearest' }));

const directions: Record<string, Direction> = {
  ArrowLeft: 'left',
  ArrowRight: 'right',
  ArrowUp: 'up',
  ArrowDown: 'down',
};

interface TileHeadProps {
  session: EditSession;
  widget: DashboardWidget;
  title: string;
  titleId: string;
}

/** The title as a handle, and the menu. */
export function TileHead({ session, widget, title, titleId }: TileHeadProps) {
  const t = texts.value;
  const { id } = widget;
  const handle = useRef<HTMLButtonElement>(null);
  const isGrabbed = session.grabbedId.value === id;

  useEffect(() => {
    if (session.addedId !== id) return;
    session.addedId = null;
    // After the dialog that added it has closed
    requestAnimationFrame(() => handle.current?.focus());
  }, []);

  const onKeyDown = (event: KeyboardEvent) => {
    const direction = directions[event.key];
    if (!isGrabbed || (!direction && event.key !== 'Escape')) return;
    event.preventDefault();
    event.stopPropagation();
    if (direction) session.press(direction, event.shiftKey);
    else session.revert();
    follow(id);
  };

  return (
    <>
      <h2 id={titleId} class={css.title} aria-label={title}>
        <button
          ref={handle}
          type="button"
          class={css.handle}
          aria-label={t.handle(title)}
          aria-pressed={isGrabbed}
          aria-describedby={handleHintId}
          title={title}
          onPointerDown={(event) => startDrag(event, id, 'move', session)}
          onClick={(event) => {
            // A key or a screen reader; a pointer drags instead.
            if (event.detail === 0) session.toggle(id);
          }}
          onKeyDown={onKeyDown}
          onBlur={() => isGrabbed && session.drop()}
        >
          <Icon icon={GripVertical} />
          <span dir="auto">{title}</span>
        </button>
      </h2>
      <TileMenu session={session} widget={widget} title={title} />
    </>
  );
}

function TileMenu({ session, widget, title }: Omit<TileHeadProps, 'titleId'>) {
  const t = texts.value;
  const { id } = widget;
  const step = (direction: Direction) => {
    session.step(id, direction);
    follow(id);
  };
  const resize = (columns: -1 | 0 | 1, rows: -1 | 0 | 1) => {
    session.resizeBy(id, columns, rows);
    follow(id);
  };
  const remove = () => {
    const tile = elementOf(id);
    const neighbour = [tile?.nextElementSibling, tile?.previousElementSibling].find((each) =>
      each?.hasAttribute('data-tile'),
    );
    session.remove(widget);
    // The focus would be lost with the tile.
    const next = neighbour?.querySelector<HTMLElement>('h2 button') ?? document.getElementById(addButtonId);
    next?.focus();
  };
  const hasOtherTabs = (session.view.current?.tabs.length ?? 0) > 1;
  return (
    <Menu
      label={t.tileMenu(title)}
      icon={EllipsisVertical}
      items={[
        ...(kindOf(widget)?.Settings
          ? [
              {
                label: t.configure,
                icon: Settings,
                onSelect: () => session.open({ kind: 'configure', widget }),
              },
              'separator' as const,
            ]
          : []),
        { label: t.up, icon: ArrowUp, onSelect: () => step('up') },
        { label: t.down, icon: ArrowDown, onSelect: () => step('down') },
        { label: t.left, icon: ArrowLeft, onSelect: () => step('left') },
        { label: t.right, icon: ArrowRight, onSelect: () => step('right') },
        'separator',
        { label: t.wider, icon: ChevronsLeftRight, onSelect: () => resize(1, 0) },
        { label: t.narrower, icon: ChevronsRightLeft, onSelect: () => resize(-1, 0) },
        { label: t.taller, icon: ChevronsUpDown, onSelect: () => resize(0, 1) },
        { label: t.shorter, icon: ChevronsDownUp, onSelect: () => resize(0, -1) },
        'separator',
        ...(hasOtherTabs
          ? [{ label: t.moveToTab, icon: LayoutDashboard, onSelect: () => session.open({ kind: 'moveToTab', widget }) }]
          : []),
        { label: t.remove, icon: Trash2, danger: true, onSelect: remove },
      ]}
    />
  );
}

/** The lower right corner resizes by pointer. Keys resize by the handle, and the menu has buttons. */
export const TileCorner = ({ session, widget }: Pick<TileHeadProps, 'session' | 'widget'>) => (
  <div class={css.corner} aria-hidden onPointerDown={(event) => startDrag(event, widget.id, 'resize', session)} />
);
