import { LayoutDashboard, Pencil, Plus, RotateCw } from 'lucide';
import { exec, useLocation } from 'preact-iso/router';
import type { MutableRef } from 'preact/hooks';
import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { DashboardTab, Profile } from '@portal/client/interface';
import { PortalError } from '@portal/client/portal-error';
import { arrange } from '../grid/arrange.ts';
import { type Breakpoint, breakpointAt, gridVersion } from '../grid/breakpoints.ts';
import { me } from '../session.ts';
import { Button } from '../ui/button.tsx';
import { EmptyState, QueryView, Skeleton } from '../ui/states.tsx';
import { Status } from '../ui/status.tsx';
import { showToast } from '../ui/toast.tsx';
import { useAfterPaint } from '../ui/use-after-paint.ts';
import { Backdrop } from './backdrop.tsx';
import { type Changes, changes, type Editor, type View } from './board.ts';
import css from './dashboard.module.css';
import { sizeOf } from './kinds.ts';
import { type Board, readAhead, readTabsAgain, useBoard } from './queries.ts';
import { TabBar } from './tab-bar.tsx';
import { useTabs } from './tabs-query.ts';
import { texts } from './texts.ts';
import { TileGrid } from './tile-grid.tsx';

const idIn = (path: string): string | undefined => exec(path, '/app/tabs/:id')?.params['id'];
const isId = (text: string): boolean => /^[0-9a-f-]{36}$/i.test(text);

const signedIn = new Promise<Profile>((resolve) => {
  me.subscribe((account) => {
    if (account) resolve(account);
  });
});

/** Reads the dashboard. The page waits for it, so that all of it is drawn at once instead of part by part. */
export async function readDashboardAhead(): Promise<void> {
  const { mustChangePassword } = await signedIn;
  // Until it is changed, the service refuses everything else.
  if (mustChangePassword) return;
  const wanted = idIn(location.pathname);
  await readAhead(wanted !== undefined && isId(wanted) ? wanted : undefined);
}

/** The dashboard that the path names; the first one if it names none. */
export function DashboardPage() {
  const tabs = useTabs();
  const { path, route } = useLocation();
  const wanted = idIn(path);
  const tab = tabs.data?.find(({ id }) => id === wanted) ?? (wanted === undefined ? tabs.data?.[0] : undefined);
  const isGone = tabs.data !== undefined && !tab && !tabs.isFetching;

  useEffect(() => {
    if (!isGone) return;
    showToast(texts.value.gone);
    route('/app', true);
  }, [isGone]);

  const name = tab?.name ?? texts.value.dashboards;
  useLayoutEffect(() => {
    document.title = `${name} · Portal`;
  }, [name]);

  return (
    <div class={css.page}>
      <Backdrop />
      <h1 class={css.heading} dir="auto">
        {name}
      </h1>
      <QueryView query={tabs}>{(all) => (tab ? <Dashboard tab={tab} tabs={all} /> : <Skeleton />)}</QueryView>
    </div>
  );
}

function Dashboard({ tab: chosen, tabs }: { tab: DashboardTab; tabs: readonly DashboardTab[] }) {
  const painted = useAfterPaint(chosen);
  // Of a dashboard that was deleted there is nothing to draw any more.
  const tab = tabs.some(({ id }) => id === painted.id) ? painted : chosen;
  const board = useBoard(tab.id);
  const frame = useRef<HTMLDivElement>(null);
  const breakpoint = useBreakpoint(frame);
  const unsaved = changes.value?.tabId === tab.id ? changes.value : null;
  const editing = useEditing(unsaved !== null);
  const { data } = board;

  const isGone = board.error instanceof PortalError && board.error.code === 'NOT_FOUND';
  useEffect(() => {
    if (isGone) void readTabsAgain();
  }, [isGone]);

  const shown = useMemo(
    () => data && breakpoint && arrangeBoard(data, breakpoint, unsaved),
    [data?.layout, data?.widgets, breakpoint, unsaved],
  );
  if (data && shown && breakpoint) editing.view.current = { tab, tabs, layout: data.layout, breakpoint, ...shown };

  const editor = unsaved && editing.editor;
  const isLocked = data !== undefined && data.layout.__gridVersion > gridVersion;
  const add = () => void editing.begin(true);
  const editId = useId();
  useFocusAfter(editor !== null, editId);

  return (
    <>
      <div class={css.bar} data-editing={editor !== null}>
        {editor && breakpoint ? (
          <editor.Bar breakpoint={breakpoint} />
        ) : (
          <TabBar tab={chosen} tabs={tabs}>
            {shown && !isLocked && (
              <Button
                id={editId}
                icon={Pencil}
                busy={editing.isLoading}
                onPointerEnter={() => void loadEditMode().catch(() => undefined)}
                onClick={() => void editing.begin(false)}
              >
                {texts.value.edit}
              </Button>
            )}
          </TabBar>
        )}
      </div>
      {isLocked && <NewerGrid />}
      <div ref={frame} class={data ? undefined : css.panel}>
        <QueryView
          query={board}
          empty={() => shown?.items.length === 0}
          emptyState={<NoTiles onAdd={add} />}
          skeleton={<Skeleton lines={8} />}
        >
          {() => shown && breakpoint && <TileGrid {...shown} breakpoint={breakpoint} editor={editor} />}
        </QueryView>
      </div>
    </>
  );
}

function NewerGrid() {
  const t = texts.value;
  return (
    <div class={css.note}>
      <Status kind="info">{t.newerGrid}</Status>
      <Button size="small" icon={RotateCw} onClick={() => location.reload()}>
        {t.reload}
      </Button>
    </div>
  );
}

function NoTiles({ onAdd }: { onAdd: () => void }) {
  const t = texts.value;
  return (
    <div class={css.panel}>
      <EmptyState
        icon={LayoutDashboard}
        title={t.emptyTitle}
        action={
          <Button kind="primary" icon={Plus} onClick={onAdd}>
            {t.addTile}
          </Button>
        }
      >
        {t.emptyText}
      </EmptyState>
    </div>
  );
}

function arrangeBoard({ layout, widgets: all }: Board, breakpoint: Breakpoint, unsaved: Changes | null) {
  const layouts = unsaved ? { ...unsaved.base.layouts, ...unsaved.layouts } : layout.layouts;
  const widgets = unsaved ? all.filter(({ id }) => !unsaved.removed.has(id)) : all;
  const sizes = new Map(widgets.map((widget) => [widget.id, sizeOf(widget)]));
  return { widgets, items: arrange(layouts, breakpoint, sizes) };
}

const loadEditMode = () => import('./edit-mode.tsx');

/** Loads edit mode and begins it, or goes on with what is unsaved. */
function useEditing(hasUnsaved: boolean) {
  const view = useRef<View | null>(null);
  const [editor, setEditor] = useState<Editor | null>(null);
  const [isLoading, setLoading] = useState(false);
  const load = async (): Promise<Editor | null> => {
    setLoading(true);
    try {
      const { createEditor } = await loadEditMode();
      const loaded = editor ?? createEditor(view);
      setEditor(loaded);
      return loaded;
    } catch {
      showToast(texts.value.partFailed, { kind: 'error' });
      return null;
    } finally {
      setLoading(false);
    }
  };
  useEffect(() => {
    if (hasUnsaved && !editor) void load();
  }, [hasUnsaved]);
  const begin = async (isAdding: boolean) => (await load())?.begin(isAdding);
  return { view, editor, isLoading, begin };
}

/** The breakpoint of an element's width; null until the element is there. */
function useBreakpoint(frame: MutableRef<HTMLElement | null>): Breakpoint | null {
  const [breakpoint, setBreakpoint] = useState<Breakpoint | null>(null);
  useLayoutEffect(() => {
    const { current } = frame;
    if (!current) return undefined;
    const measure = () => setBreakpoint(breakpointAt(current.clientWidth));
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(current);
    return () => observer.disconnect();
  }, []);
  return breakpoint;
}

/** When edit mode ends, its controls are gone: the focus goes to the button that began it. */
function useFocusAfter(isEditing: boolean, id: string): void {
  const wasEditing = useRef(false);
  useEffect(() => {
    if (wasEditing.current && !isEditing) document.getElementById(id)?.focus({ preventScroll: true });
    wasEditing.current = isEditing;
  }, [isEditing]);
}
