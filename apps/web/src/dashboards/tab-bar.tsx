import { ArrowLeft, ArrowRight, PencilLine, Plus, Trash2 } from 'lucide';
import type { ComponentChildren, TargetedDragEvent, VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { DashboardTab } from '@portal/client/interface';
import { useMutation } from '../mutation.ts';
import { IconButton } from '../ui/button.tsx';
import { Menu } from '../ui/menu.tsx';
import { showToast } from '../ui/toast.tsx';
import { orderTabs, readTabsAgain } from './queries.ts';
import css from './tab-bar.module.css';
import type * as TabDialogs from './tab-dialogs.tsx';
import { texts } from './texts.ts';

interface TabBarProps {
  /** The one that is shown. */
  tab: DashboardTab;
  tabs: readonly DashboardTab[];
  /** Further actions. */
  children: ComponentChildren;
}

/** Links to all dashboards of the account, and what can be done with the one that is shown. */
export function TabBar({ tab, tabs, children }: TabBarProps) {
  const t = texts.value;
  const [dialog, setDialog] = useState<VNode | null>(null);
  const order = useMutation({
    ...orderTabs,
    onError: () => {
      showToast(texts.value.orderFailed, { kind: 'error' });
      return readTabsAgain();
    },
  });

  const ids = tabs.map(({ id }) => id);
  const index = ids.indexOf(tab.id);
  const move = (id: string, to: number) => {
    const others = ids.filter((other) => other !== id);
    order.mutate(others.toSpliced(to, 0, id));
    const name = tabs.find((each) => each.id === id)?.name ?? '';
    showToast(t.moved(name, to + 1, ids.length));
  };

  const close = () => setDialog(null);
  const open = async (dialogOf: (dialogs: typeof TabDialogs) => VNode) => {
    try {
      setDialog(dialogOf(await import('./tab-dialogs.tsx')));
    } catch {
      showToast(texts.value.partFailed, { kind: 'error' });
    }
  };
  const create = () => void open(({ NewTabDialog }) => <NewTabDialog onClose={close} />);
  const rename = () => void open(({ RenameTabDialog }) => <RenameTabDialog tab={tab} onClose={close} />);
  const remove = () => {
    const next = tabs[index + 1] ?? tabs[index - 1];
    if (!next) showToast(t.lastTab);
    else void open(({ DeleteTabDialog }) => <DeleteTabDialog tab={tab} next={next} onClose={close} />);
  };

  return (
    <>
      <TabList tab={tab} tabs={tabs} onMove={move} />
      <IconButton icon={Plus} label={t.newTab} onClick={create} />
      <Menu
        label={t.tabActions(tab.name)}
        items={[
          { label: t.rename, icon: PencilLine, onSelect: rename },
          { label: t.moveLeft, icon: ArrowLeft, disabled: index === 0, onSelect: () => move(tab.id, index - 1) },
          {
            label: t.moveRight,
            icon: ArrowRight,
            disabled: index === ids.length - 1,
            onSelect: () => move(tab.id, index + 1),
          },
          'separator',
          { label: t.delete, icon: Trash2, danger: true, onSelect: remove },
        ]}
      />
      {children}
      {dialog}
    </>
  );
}

interface TabListProps extends Omit<TabBarProps, 'children'> {
  onMove: (id: string, to: number) => void;
}

function TabList({ tab, tabs, onMove }: TabListProps) {
  const list = useRef<HTMLUListElement>(null);
  const [dragged, setDragged] = useState<string | null>(null);
  /** The gap between tabs that is nearest to the pointer, counted from 0. */
  const [gap, setGap] = useState<number | null>(null);

  useEffect(() => {
    list.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [tab.id, tabs.length]);

  const end = () => {
    setDragged(null);
    setGap(null);
  };
  const drop = () => {
    const from = tabs.findIndex(({ id }) => id === dragged);
    end();
    if (dragged === null || gap === null || from === -1) return;
    // The gaps after the dragged one move up by one as soon as it is taken out.
    const to = gap > from ? gap - 1 : gap;
    if (to !== from) onMove(dragged, to);
  };

  return (
    <nav class={css.nav} aria-label={texts.value.dashboards}>
      <ul ref={list} class={css.tabs}>
        {tabs.map(({ id, name }, index) => (
          <li
            key={id}
            data-gap={gap === index ? 'before' : gap === tabs.length && index === gap - 1 ? 'after' : undefined}
          >
            <a
              href={`/app/tabs/${id}`}
              aria-current={id === tab.id ? 'page' : undefined}
              dir="auto"
              draggable
              onDragStart={() => setDragged(id)}
              onDragEnd={end}
              onDragOver={(event) => {
                if (dragged === null) return;
                event.preventDefault();
                setGap(isPastMiddle(event) ? index + 1 : index);
              }}
              onDrop={(event) => {
                event.preventDefault();
                drop();
              }}
            >
              {name}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}

function isPastMiddle({ currentTarget, clientX }: TargetedDragEvent<HTMLElement>): boolean {
  const { left, width } = currentTarget.getBoundingClientRect();
  return clientX > left + width / 2;
}
