import { useQuery } from '@tanstack/preact-query';
import { ArrowDown, ArrowUp, GripVertical, Pencil, Plus, Trash } from 'lucide';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { CustomModule, ModuleCategory } from '@portal/client/interface';
import rows from '../dashboards/widgets/favorites-dialog.module.css';
import { moved } from '../dashboards/widgets/favorites-order.ts';
import { useMutation } from '../mutation.ts';
import { portal, queryClient, send } from '../portal.ts';
import { useKeptFocus } from '../reminders/kept-focus.ts';
import list from '../reminders/reminders.module.css';
import { categoryName, moduleName } from '../shell/module-names.ts';
import { Button, IconButton } from '../ui/button.tsx';
import { ChangedMeanwhileDialog } from '../ui/changed-meanwhile.tsx';
import { Icon } from '../ui/icon.tsx';
import { Menu } from '../ui/menu.tsx';
import { QueryView } from '../ui/states.tsx';
import { showToast } from '../ui/toast.tsx';
import { VisuallyHidden } from '../ui/visually-hidden.tsx';
import s from './administration.module.css';
import { texts } from './categories-texts.ts';
import { CategoryNameDialog, DeleteCategoryDialog } from './category-dialogs.tsx';
import { categoriesQuery, customModulesQuery, refreshModules } from './queries.ts';
import { useRowDrag } from './row-drag.ts';

type OpenDialog = { kind: 'new' } | { kind: 'rename' | 'delete'; category: ModuleCategory };

/** The headings of the navigation: their names, their order and the modules below them. */
export function CategoriesTab() {
  const t = texts.value;
  const categories = useQuery(categoriesQuery);
  const custom = useQuery(customModulesQuery);
  const [dialog, setDialog] = useState<OpenDialog | null>(null);
  const close = () => setDialog(null);
  return (
    <div class={s.stack}>
      <p class={s.muted}>{t.intro}</p>
      <div>
        <Button kind="primary" icon={Plus} onClick={() => setDialog({ kind: 'new' })}>
          {t.add}
        </Button>
      </div>
      <QueryView query={categories}>
        {(all) => (
          <Categories
            all={all}
            shared={custom.data?.filter(({ ownerUserId }) => ownerUserId === null) ?? []}
            onOpen={setDialog}
          />
        )}
      </QueryView>
      {dialog?.kind === 'new' && <CategoryNameDialog onClose={close} />}
      {dialog?.kind === 'rename' && <CategoryNameDialog category={dialog.category} onClose={close} />}
      {dialog?.kind === 'delete' && (
        <DeleteCategoryDialog
          category={dialog.category}
          others={(categories.data ?? []).filter(({ key }) => key !== dialog.category.key)}
          shared={
            custom.data?.filter(
              ({ ownerUserId, category }) => ownerUserId === null && category === dialog.category.key,
            ) ?? []
          }
          onClose={close}
        />
      )}
    </div>
  );
}

/** The category for custom modules is always last. */
const lastKey = 'custom-modules';

interface CategoriesProps {
  all: ModuleCategory[];
  shared: CustomModule[];
  onOpen: (dialog: OpenDialog) => void;
}

function Categories({ all, shared, onOpen }: CategoriesProps) {
  const t = texts.value;
  const keptFocus = useKeptFocus<HTMLOListElement>();
  const { ref } = keptFocus;
  const [news, setNews] = useState('');
  const [conflict, setConflict] = useState<{ mine: ModuleCategory[]; theirs: ModuleCategory[] } | null>(null);
  // A button that moved in the document has lost the focus.
  const wanted = useRef<string[]>([]);
  useLayoutEffect(() => {
    const found = wanted.current.map((selector) => ref.current?.querySelector<HTMLElement>(`${selector}:enabled`));
    found.find((one) => one)?.focus();
    wanted.current = [];
  }, [all]);

  const movable = all.filter(({ key }) => key !== lastKey);
  const order = useMutation({
    mutationKey: orderKey,
    // Each order begins with the one before, which must have arrived.
    scope: { id: orderKey.join(' ') },
    mutationFn: async ({ mine, before }: { mine: ModuleCategory[]; before: ModuleCategory[] | null }) => {
      const theirs = await portal.get('/module-categories');
      if (before && keysOf(theirs) !== keysOf(before)) return setConflict({ mine, theirs });
      // Categories that others added come last, and those that others deleted are left out.
      const now = new Set(theirs.map(({ key }) => key));
      const keys = mine.map(({ key }) => key).filter((key) => now.delete(key));
      await portal.put('/module-categories/order', { body: { keys: [...keys, ...now] } });
      return undefined;
    },
    onMutate: ({ mine }) => queryClient.setQueryData(categoriesQuery.queryKey, mine),
    onError: () => showToast(t.notOrdered, { kind: 'error' }),
    // A list that is read now would not contain an order that waits.
    onSettled: () => (queryClient.isMutating({ mutationKey: orderKey }) > 1 ? undefined : refreshModules()),
  });
  const move = (from: number, to: number, way: 'up' | 'down' | null) => {
    const category = movable[from];
    if (!category || from === to) return;
    const { key } = category;
    if (way) wanted.current = [`[data-id="${key}"] [data-move="${way}"]`, `[data-id="${key}"] [data-move]`];
    const last = all.filter((one) => one.key === lastKey);
    order.mutate({ mine: [...moved(movable, from, to), ...last], before: all });
    setNews(t.isAt(categoryName(category), to + 1, movable.length));
  };
  const drag = useRowDrag(
    ref,
    movable.map(({ key }) => key),
    (from, to) => move(from, to, null),
  );
  const targets = all.map(({ key, name }) => ({ key, name: categoryName({ key, name }) }));

  return (
    <>
      <ol class={list.list} aria-label={t.categories} {...keptFocus}>
        {all.map((category, place) => {
          const { key, moduleKeys } = category;
          const name = categoryName(category);
          const isMovable = key !== lastKey;
          return (
            <li key={key} class={`${list.item} ${s.movable}`} tabIndex={-1} {...(isMovable && drag.row(key, place))}>
              <div class={s.entry}>
                {isMovable && (
                  <span class={rows.grip} title={t.drag} {...drag.grip(key)}>
                    <Icon icon={GripVertical} />
                  </span>
                )}
                <div class={list.text}>
                  <h2 dir="auto">{name}</h2>
                  <ul class={s.row}>
                    {moduleKeys.map((module) => (
                      <li key={module}>
                        <ModuleMenu module={module} from={key} targets={targets} onMoved={setNews} />
                      </li>
                    ))}
                    {shared
                      .filter((one) => one.category === key)
                      .map((one) => (
                        <li key={one.id}>
                          <a href="/app/admin/modules?tab=shared" dir="auto">
                            {one.name}
                          </a>
                        </li>
                      ))}
                  </ul>
                  {!isMovable && <p class={s.muted}>{t.alwaysLast}</p>}
                </div>
              </div>
              <div class={list.actions}>
                {isMovable && (
                  <>
                    <IconButton
                      data-move="up"
                      icon={ArrowUp}
                      label={t.up(name)}
                      disabled={place === 0}
                      onClick={() => move(place, place - 1, 'up')}
                    />
                    <IconButton
                      data-move="down"
                      icon={ArrowDown}
                      label={t.down(name)}
                      disabled={place === movable.length - 1}
                      onClick={() => move(place, place + 1, 'down')}
                    />
                  </>
                )}
                <IconButton
                  icon={Pencil}
                  label={t.renameOf(name)}
                  onClick={() => onOpen({ kind: 'rename', category })}
                />
                {isMovable && (
                  <IconButton
                    icon={Trash}
                    label={t.deleteOf(name)}
                    onClick={() => onOpen({ kind: 'delete', category })}
                  />
                )}
              </div>
            </li>
          );
        })}
      </ol>
      <VisuallyHidden>
        <span role="status">{news}</span>
      </VisuallyHidden>
      {conflict && (
        <ChangedMeanwhileDialog
          changes={[{ label: t.order, theirs: namesOf(conflict.theirs), mine: namesOf(conflict.mine) }]}
          onKeepMine={() => {
            setConflict(null);
            order.mutate({ mine: conflict.mine, before: null });
          }}
          onTakeTheirs={() => {
            setConflict(null);
            setNews('');
          }}
          onClose={() => setConflict(null)}
        />
      )}
    </>
  );
}

const orderKey = ['modules', 'order'];

const keysOf = (categories: readonly ModuleCategory[]): string => categories.map(({ key }) => key).join(' ');
const namesOf = (categories: readonly ModuleCategory[]): string => categories.map(categoryName).join(', ');

interface ModuleMenuProps {
  module: ModuleCategory['moduleKeys'][number];
  from: string;
  targets: { key: string; name: string }[];
  onMoved: (news: string) => void;
}

/** A built-in module; its menu moves it to another category. */
function ModuleMenu({ module, from, targets, onMoved }: ModuleMenuProps) {
  const t = texts.value;
  const name = moduleName({ key: module, name: module, kind: 'builtin' });
  const assign = async (categoryKey: string) => {
    const categories = await portal.put('/module-categories/assignment', { body: { moduleKey: module, categoryKey } });
    queryClient.setQueryData(categoriesQuery.queryKey, categories);
    await refreshModules();
  };
  const moveTo = (target: { key: string; name: string }) =>
    send(() => assign(target.key)).then(
      () => {
        onMoved(t.movedTo(name, target.name));
        const undo = () =>
          void send(() => assign(from)).then(
            () => showToast(t.undone, { kind: 'success' }),
            () => showToast(t.notMoved(name), { kind: 'error' }),
          );
        showToast(t.movedTo(name, target.name), { kind: 'success', undo });
      },
      () => {
        showToast(t.notMoved(name), { kind: 'error' });
        void refreshModules();
      },
    );
  return (
    <Menu
      label={name}
      trigger="button"
      align="start"
      items={targets.map((target) => ({
        label: t.moveTo(target.name),
        disabled: target.key === from,
        onSelect: () => void moveTo(target),
      }))}
    />
  );
}
