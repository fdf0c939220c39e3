import { useQuery } from '@tanstack/preact-query';
import { ArrowDown, ArrowUp, GripVertical, Pencil, Plus, Trash2 } from 'lucide';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Favorite } from '@portal/client/interface';
import { useMutation } from '../../mutation.ts';
import { portal, queryClient } from '../../portal.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/field.tsx';
import { fieldErrors, Form } from '../../ui/form.tsx';
import { Icon } from '../../ui/icon.tsx';
import { VisuallyHidden } from '../../ui/visually-hidden.tsx';
import { hostOf } from './addresses.ts';
import { FavoriteForm } from './favorite-form.tsx';
import { FavoriteIcon } from './favorite-icon.tsx';
import { texts } from './favorites-dialog-texts.ts';
import css from './favorites-dialog.module.css';
import { moved, placeAt, withScheme } from './favorites-order.ts';
import { favoritesOf } from './favorites-query.ts';
import { ErrorLine, TileView } from './tile-view.tsx';
import tile from './tile.module.css';

/** Favorites of one widget. */
const maxFavorites = 200;

/** While icons may still be found, in milliseconds. */
const iconWaitMs = 30_000;
const iconPollMs = 3_000;

interface Props {
  widgetId: string;
  onClose: () => void;
}

/** Adds, changes, deletes and orders the favorites of a widget. Everything is stored at once. */
export function FavoritesDialog({ widgetId, onClose }: Props) {
  const t = texts.value;
  const [news, setNews] = useState('');
  const [addedAt, setAddedAt] = useState(0);
  const favorites = useQuery({
    ...favoritesOf(widgetId),
    refetchInterval: ({ state }) =>
      state.data?.some(({ iconVersion }) => iconVersion === 0) && Date.now() - addedAt < iconWaitMs && iconPollMs,
  });
  return (
    <Dialog
      title={t.title}
      onClose={onClose}
      actions={
        <Button kind="primary" onClick={onClose}>
          {t.ready}
        </Button>
      }
    >
      {(favorites.data?.length ?? 0) < maxFavorites ? (
        <AddForm
          widgetId={widgetId}
          onAdded={({ title }) => {
            setAddedAt(Date.now());
            setNews(t.isAdded(title));
          }}
        />
      ) : (
        <p>{t.full(maxFavorites)}</p>
      )}
      <div class={css.list}>
        <TileView query={favorites} isEmpty={() => false} empty={null}>
          {(rows) => <Rows widgetId={widgetId} rows={rows} tell={setNews} />}
        </TileView>
      </div>
      <div role="status">
        <VisuallyHidden>{news}</VisuallyHidden>
      </div>
    </Dialog>
  );
}

const refresh = (widgetId: string) => queryClient.invalidateQueries({ queryKey: favoritesOf(widgetId).queryKey });

function AddForm({ widgetId, onAdded }: { widgetId: string; onAdded: (favorite: Favorite) => void }) {
  const t = texts.value;
  const [typed, setTyped] = useState({ url: '', title: '' });
  const drawn = useRef(typed);
  drawn.current = typed;
  const form = useRef<HTMLDivElement>(null);
  const add = useMutation({
    mutationFn: (typed: { url: string; title: string }) => {
      const url = withScheme(typed.url);
      return portal.post('/favorites', { body: { widgetId, url, title: typed.title.trim() || hostOf(url) } });
    },
    onSuccess: (favorite, sent) => {
      // What was typed meanwhile belongs to the next one.
      if (drawn.current === sent) {
        setTyped({ url: '', title: '' });
        form.current?.querySelector('input')?.focus();
      }
      onAdded(favorite);
      void refresh(widgetId);
    },
  });
  const errors = fieldErrors(add.error);
  return (
    <div ref={form}>
      <Form
        label={t.newFavorite}
        onSubmit={() => add.mutateAsync(typed)}
        error={add.error}
        actions={
          <Button type="submit" icon={Plus} busy={add.isPending}>
            {t.add}
          </Button>
        }
      >
        <TextField
          label={t.address}
          name="url"
          value={typed.url}
          onInput={(url) => setTyped({ ...typed, url })}
          error={errors['url']}
          maxLength={2_048}
          autocomplete="off"
          required
        />
        <TextField
          label={t.name}
          name="title"
          value={typed.title}
          onInput={(title) => setTyped({ ...typed, title })}
          hint={t.nameHint}
          error={errors['title']}
          maxLength={200}
          autocomplete="off"
        />
      </Form>
    </div>
  );
}

interface Removed {
  favorite: Favorite;
  /** The uploaded icon, to restore it. */
  icon: Blob | null;
  /** The order before. */
  ids: string[];
}

interface RowsProps {
  widgetId: string;
  rows: Favorite[];
  tell: (news: string) => void;
}

function Rows({ widgetId, rows, tell }: RowsProps) {
  const t = texts.value;
  const { queryKey } = favoritesOf(widgetId);
  const list = useRef<HTMLOListElement>(null);
  const [openId, setOpenId] = useState<string | null>(null);
  const [removed, setRemoved] = useState<Removed | null>(null);
  const [drag, setDrag] = useState<{ id: string; place: number } | null>(null);
  // A button that moved in the document or went has lost the focus. The first of these that can take it gets it.
  const wanted = useRef<string[]>([]);

  useLayoutEffect(() => {
    const found = wanted.current.map((selector) => list.current?.querySelector<HTMLElement>(`${selector}:enabled`));
    const button = found.find((one) => one);
    if (!button) return;
    button.focus();
    wanted.current = [];
  }, [rows, removed, openId]);

  const order = useMutation({
    // One after the other: an order that overtook the next one would replace it.
    scope: { id: `order of ${widgetId}` },
    mutationFn: (next: Favorite[]) =>
      portal.put('/favorites/order', { body: { widgetId, ids: next.map(({ id }) => id) } }),
    onMutate: (next) => {
      queryClient.setQueryData(queryKey, next);
    },
    onSettled: () => refresh(widgetId),
  });
  const remove = useMutation({
    mutationFn: async ({ favorite, ids }: Omit<Removed, 'icon'>): Promise<Removed> => {
      const icon = favorite.hasUploadedIcon ? await uploadedIcon(favorite.id) : null;
      await portal.delete('/favorites/{id}', { params: { path: { id: favorite.id } } });
      return { favorite, icon, ids };
    },
    onSuccess: (gone) => {
      setRemoved(gone);
      tell(t.isRemoved(gone.favorite.title));
      wanted.current = ['[data-undo]'];
      queryClient.setQueryData<Favorite[]>(queryKey, (all) => all?.filter(({ id }) => id !== gone.favorite.id));
      return refresh(widgetId);
    },
  });
  const restore = useMutation({
    mutationFn: ({ favorite, icon, ids }: Removed) => restored(widgetId, favorite, icon, ids),
    onSuccess: async ({ id }) => {
      await refresh(widgetId);
      wanted.current = [`[data-id="${id}"] button`];
      setRemoved(null);
    },
  });

  const move = (from: number, to: number, way: 'up' | 'down' | null) => {
    const next = moved(rows, from, to);
    const row = rows[from];
    if (!row || from === to) return;
    if (way) wanted.current = [`[data-id="${row.id}"] [data-move="${way}"]`, `[data-id="${row.id}"] [data-move]`];
    order.mutate(next);
    tell(t.isAt(row.title, next.indexOf(row) + 1, rows.length));
  };

  // The rows stay where they are until the drop: an element that moves in the document loses the pointer.
  const held = drag ? rows.findIndex(({ id }) => id === drag.id) : -1;
  const dropSide = (place: number) =>
    drag?.place === place && place !== held ? (place < held ? 'before' : 'after') : undefined;
  const grip = (id: string) => ({
    onPointerDown: (event: PointerEvent & { currentTarget: HTMLElement }) => {
      if (event.button !== 0) return;
      event.preventDefault();
      event.currentTarget.setPointerCapture(event.pointerId);
      setDrag({ id, place: rows.findIndex((row) => row.id === id) });
    },
    onPointerMove: ({ clientY }: PointerEvent) => {
      if (drag?.id !== id || !list.current) return;
      const middles = [...list.current.querySelectorAll('[data-id]')].map((row) => {
        const { top, height } = row.getBoundingClientRect();
        return top + height / 2;
      });
      const place = placeAt(clientY, middles, held);
      if (place !== drag.place) setDrag({ id, place });
    },
    onPointerUp: () => {
      if (drag?.id === id) move(held, drag.place, null);
      setDrag(null);
    },
    onPointerCancel: () => setDrag(null),
  });
  const isGoneAt = removed && Math.min(removed.ids.indexOf(removed.favorite.id), rows.length);

  return (
    <>
      {rows.length === 0 && !removed && <p class={tile.muted}>{t.none}</p>}
      <ErrorLine error={order.error ?? remove.error ?? restore.error} />
      <ol
        ref={list}
        class={tile.list}
        aria-label={t.list}
        onFocusIn={() => {
          // The person went elsewhere.
          wanted.current = [];
        }}
      >
        {rows.flatMap((favorite, place) => {
          const { id, title, url } = favorite;
          const isOpen = openId === id;
          const row = (
            <li
              key={id}
              data-id={id}
              class={css.item}
              data-held={held === place || undefined}
              data-drop={dropSide(place)}
            >
              <div class={tile.row}>
                <span class={css.grip} title={t.drag} {...grip(id)}>
                  <Icon icon={GripVertical} />
                </span>
                <FavoriteIcon favorite={favorite} />
                <div class={tile.main}>
                  <span dir="auto">{title}</span>
                  <span class={css.address}>{url}</span>
                </div>
                <span class={css.actions}>
                  <IconButton
                    data-move="up"
                    icon={ArrowUp}
                    label={t.up(title)}
                    disabled={place === 0}
                    onClick={() => move(place, place - 1, 'up')}
                  />
                  <IconButton
                    data-move="down"
                    icon={ArrowDown}
                    label={t.down(title)}
                    disabled={place === rows.length - 1}
                    onClick={() => move(place, place + 1, 'down')}
                  />
                  <IconButton
                    icon={Pencil}
                    label={t.change(title)}
                    aria-expanded={isOpen}
                    onClick={() => setOpenId(isOpen ? null : id)}
                  />
                  <IconButton
                    icon={Trash2}
                    label={t.remove(title)}
                    busy={remove.isPending && remove.variables?.favorite.id === id}
                    onClick={() => remove.mutate({ favorite, ids: rows.map(({ id }) => id) })}
                  />
                </span>
              </div>
              {isOpen && (
                <FavoriteForm
                  favorite={favorite}
                  onChange={() => refresh(widgetId)}
                  onDone={() => {
                    setOpenId(null);
                    wanted.current = [`[data-id="${id}"] [aria-expanded]`];
                  }}
                />
              )}
            </li>
          );
          return isGoneAt === place ? [undo(), row] : [row];
        })}
        {isGoneAt === rows.length && undo()}
      </ol>
    </>
  );

  function undo() {
    if (!removed) return null;
    return (
      <li key="removed" class={tile.row}>
        <span class={tile.main}>{t.isRemoved(removed.favorite.title)}</span>
        <Button data-undo size="small" busy={restore.isPending} onClick={() => restore.mutate(removed)}>
          {t.undo}
        </Button>
      </li>
    );
  }
}

async function uploadedIcon(id: string): Promise<Blob | null> {
  const response = await fetch(`/favorites/${id}/icon`);
  return response.ok ? response.blob() : null;
}

/** A deleted favorite cannot come back, so a new one takes its place, name and icon. */
async function restored(widgetId: string, { id, title, url, iconUrl }: Favorite, icon: Blob | null, ids: string[]) {
  const added = await portal.post('/favorites', { body: { widgetId, title, url, iconUrl } });
  if (icon)
    await portal.post('/favorites/{id}/icon', {
      params: { path: { id: added.id } },
      body: { icon },
    });
  // Others may have been added or deleted in between; then it stays at the end.
  await portal
    .put('/favorites/order', { body: { widgetId, ids: ids.map((each) => (each === id ? added.id : each)) } })
    .catch(() => undefined);
  return added;
}
