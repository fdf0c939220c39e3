import { useState } from 'preact/hooks';
import type { Favorite } from '@portal/client/interface';
import css from './favorites.module.css';

/** The icon of a favorite, or the first letter of its title. The name stands beside it, so that it needs no text of its own. */
export function FavoriteIcon({ favorite }: { favorite: Favorite }) {
  const { id, title, iconVersion, iconUrl, hasUploadedIcon } = favorite;
  const [failed, setFailed] = useState<number | null>(null);
  // An address that was entered has no icon until the portal has fetched it.
  const hasIcon = iconVersion > 0 && (hasUploadedIcon || iconUrl !== null) && failed !== iconVersion;
  if (!hasIcon)
    return (
      <span class={css.initial} aria-hidden>
        {[...title][0]?.toUpperCase()}
      </span>
    );
  return (
    <img
      class={css.icon}
      src={`/favorites/${id}/icon?v=${iconVersion}`}
      alt=""
      width={32}
      height={32}
      loading="lazy"
      onError={() => setFailed(iconVersion)}
    />
  );
}
