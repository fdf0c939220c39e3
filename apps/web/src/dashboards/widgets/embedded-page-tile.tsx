import { ExternalLink, RotateCw } from 'lucide';
import { useEffect, useState } from 'preact/hooks';
import { framingRefusal } from '../../modules/framing.ts';
import { useIsVisible } from '../../polling.ts';
import { IconButton } from '../../ui/button.tsx';
import { Icon } from '../../ui/icon.tsx';
import { hostOf } from './addresses.ts';
import { readEmbeddedPage } from './configs.ts';
import css from './embedded-page.module.css';
import { texts } from './frame-texts.ts';
import type { TileProps } from './tile-props.ts';
import { texts as tileTexts } from './tile-texts.ts';
import tile from './tile.module.css';

/** Another page in a frame. The service itself is never framed: its page could act as the person. */
export function EmbeddedPageTile({ config, isEditing }: TileProps) {
  const t = texts.value;
  const { url, title, reloadIntervalSec } = readEmbeddedPage(config);
  const [loads, setLoads] = useState(0);
  const isVisible = useIsVisible();
  const refusal = framingRefusal(url, location.origin);

  useEffect(() => {
    if (reloadIntervalSec <= 0 || !isVisible || isEditing) return undefined;
    const timer = setInterval(() => setLoads((count) => count + 1), reloadIntervalSec * 1_000);
    return () => clearInterval(timer);
  }, [reloadIntervalSec, isVisible, isEditing]);

  if (refusal) return <p class={tile.quiet}>{t[refusal]}</p>;
  const name = title || hostOf(url);
  return (
    <div class={css.page}>
      <div class={css.view} data-covered={isEditing || undefined}>
        <iframe
          // A new frame loads the page again; the page itself could not be told to from here.
          key={`${url} ${loads}`}
          src={url}
          title={name}
          // The page is of another origin, so it cannot leave its sandbox.
          // oxlint-disable-next-line react/iframe-missing-sandbox
          sandbox="allow-scripts allow-forms allow-same-origin allow-popups"
          referrerpolicy="no-referrer"
          loading="lazy"
        />
      </div>
      <div class={css.foot}>
        <a href={url} target="_blank" rel="noopener noreferrer" title={t.mayRefuse}>
          <Icon icon={ExternalLink} /> {tileTexts.value.openInNewTab}
        </a>
        <IconButton
          size="small"
          icon={RotateCw}
          label={t.reload(name)}
          disabled={isEditing}
          onClick={() => setLoads(loads + 1)}
        />
      </div>
    </div>
  );
}
