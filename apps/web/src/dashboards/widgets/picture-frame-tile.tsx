import { ChevronLeft, ChevronRight, Pause, Play } from 'lucide';
import { useEffect, useState } from 'preact/hooks';
import type { DashboardImage } from '@portal/client/interface';
import { useIsVisible } from '../../polling.ts';
import { IconButton } from '../../ui/button.tsx';
import { imageAddress, useImages } from '../images.ts';
import { readPictureFrame } from './configs.ts';
import { texts } from './frame-texts.ts';
import css from './picture-frame.module.css';
import type { TileProps } from './tile-props.ts';
import { TileView } from './tile-view.tsx';
import tile from './tile.module.css';

/** Pictures of the person, one after the other. */
export function PictureFrameTile({ config, isEditing }: TileProps) {
  const { imageIds } = readPictureFrame(config);
  const images = useImages();
  const chosen = (all: DashboardImage[]) => imageIds.flatMap((id) => all.find((image) => image.id === id) ?? []);
  return (
    <div class={css.tile}>
      <TileView query={images} isEmpty={(all) => chosen(all).length === 0} empty={texts.value.noPictures}>
        {(all) => <Pictures pictures={chosen(all)} config={config} isEditing={isEditing} />}
      </TileView>
    </div>
  );
}

type PicturesProps = Pick<TileProps, 'config' | 'isEditing'> & { pictures: DashboardImage[] };

function Pictures({ pictures, config, isEditing }: PicturesProps) {
  const t = texts.value;
  const { intervalSec, fit } = readPictureFrame(config);
  const [place, setPlace] = useState(0);
  const [isOn, setOn] = useState(() => !matchMedia('(prefers-reduced-motion: reduce)').matches);
  const [isHeld, setHeld] = useState(false);
  const isVisible = useIsVisible();
  const [failedId, setFailedId] = useState('');

  const count = pictures.length;
  const step = (by: number) => setPlace((place + by + count) % count);
  const picture = pictures[place % count];
  const next = pictures[(place + 1) % count];
  const moves = count > 1 && intervalSec > 0;
  const isPlaying = moves && isOn && !isHeld && isVisible && !isEditing;

  useEffect(() => {
    if (!isPlaying) return undefined;
    if (next) new Image().src = imageAddress(next.id);
    const timer = setTimeout(() => step(1), intervalSec * 1_000);
    return () => clearTimeout(timer);
  }, [isPlaying, place, count, intervalSec]);

  if (!picture) return null;
  return (
    <div
      class={css.frame}
      onMouseEnter={() => setHeld(true)}
      onMouseLeave={() => setHeld(false)}
      onFocusIn={() => setHeld(true)}
      onFocusOut={() => setHeld(false)}
    >
      {failedId === picture.id ? (
        <p class={tile.quiet}>{t.pictureFailed(nameOf(picture))}</p>
      ) : (
        <img
          key={picture.id}
          class={css.picture}
          data-fit={fit}
          src={imageAddress(picture.id)}
          alt={nameOf(picture)}
          decoding="async"
          onError={() => setFailedId(picture.id)}
        />
      )}
      {count > 1 && (
        <div class={css.controls}>
          <IconButton size="small" icon={ChevronLeft} label={t.previous} onClick={() => step(-1)} />
          {moves && (
            <IconButton
              size="small"
              icon={isOn ? Pause : Play}
              label={isOn ? t.pause : t.play}
              onClick={() => setOn(!isOn)}
            />
          )}
          <IconButton size="small" icon={ChevronRight} label={t.next} onClick={() => step(1)} />
        </div>
      )}
    </div>
  );
}

/** The file’s name without its ending. */
const nameOf = ({ originalName }: DashboardImage): string => originalName.replace(/\.[a-z0-9]{2,5}$/i, '');
