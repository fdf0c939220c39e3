import { Pencil } from 'lucide';
import { useState } from 'preact/hooks';
import type { Favorite } from '@portal/client/interface';
import { lazy } from '../../lazy.tsx';
import { usePolled } from '../../polling.ts';
import { Button } from '../../ui/button.tsx';
import { readFavorites } from './configs.ts';
import { FavoriteIcon } from './favorite-icon.tsx';
import { favoritesOf } from './favorites-query.ts';
import css from './favorites.module.css';
import { texts } from './small-texts.ts';
import type { TileProps } from './tile-props.ts';
import { TileBody, TileView } from './tile-view.tsx';
import { safeHref } from './web-links.ts';

const FavoritesDialog = lazy(() => import('./favorites-dialog.tsx').then(({ FavoritesDialog }) => FavoritesDialog));

/** Only their owner changes favorites, and mostly in this tab. */
const intervalMs = 300_000;

export function FavoritesTile({ id, config }: TileProps) {
  const t = texts.value;
  const { columns, showLabels } = readFavorites(config);
  const [isChanging, setChanging] = useState(false);
  const favorites = usePolled({ ...favoritesOf(id), intervalMs });
  const edit = (words: string, name: string) => (
    <Button
      size="small"
      aria-label={name}
      kind="ghost"
      icon={Pencil}
      onPointerEnter={() => void FavoritesDialog.preload()}
      onClick={() => setChanging(true)}
    >
      {words}
    </Button>
  );
  return (
    <TileBody>
      <TileView
        query={favorites}
        empty={
          <>
            {t.noFavorites}
            <br />
            {edit(t.addFavorites, t.addFavorites)}
          </>
        }
      >
        {(rows) => (
          <div class={css.favorites}>
            <ul class={css.grid} style={{ '--columns': columns ?? 100 }}>
              {rows.map((favorite) => (
                <li key={favorite.id}>
                  <FavoriteLink favorite={favorite} showsLabel={showLabels} />
                </li>
              ))}
            </ul>
            {edit(t.edit, t.editFavorites)}
          </div>
        )}
      </TileView>
      {isChanging && <FavoritesDialog widgetId={id} onClose={() => setChanging(false)} />}
    </TileBody>
  );
}

function FavoriteLink({ favorite, showsLabel }: { favorite: Favorite; showsLabel: boolean }) {
  const { title, url } = favorite;
  const href = safeHref(url);
  const icon = <FavoriteIcon favorite={favorite} />;
  const label = showsLabel && <span dir="auto">{title}</span>;
  // An address of another kind is no link.
  if (href === undefined)
    return (
      <span class={css.favorite} title={title}>
        {icon}
        {label || title}
      </span>
    );
  return (
    <a
      class={css.favorite}
      href={href}
      target="_blank"
      rel="noopener noreferrer"
      title={showsLabel ? url : title}
      aria-label={showsLabel ? undefined : title}
    >
      {icon}
      {label}
    </a>
  );
}
