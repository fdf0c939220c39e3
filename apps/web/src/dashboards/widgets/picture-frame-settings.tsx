import { useId, useState } from 'preact/hooks';
import { formatBytes } from '../../language.ts';
import { FileField, RadioGroup, SelectField } from '../../ui/field.tsx';
import { useAddImage } from '../image-changes.ts';
import { imageAddress, useImages } from '../images.ts';
import { imageTypes, maxImageBytes, maxImages } from '../picture-files.ts';
import { errorOf, withKey } from './config-edits.ts';
import { readPictureFrame } from './configs.ts';
import { SettingsForm } from './settings-form.tsx';
import { texts } from './settings-texts.ts';
import css from './settings.module.css';
import type { SettingsProps } from './tile-props.ts';
import { ErrorLine, TileView } from './tile-view.tsx';
import tile from './tile.module.css';

const intervalsSec = [0, 5, 10, 15, 30, 60, 300, 900, 3_600];

export function PictureFrameSettings({ config, onChange, errors }: SettingsProps) {
  const t = texts.value;
  const { imageIds, intervalSec, fit } = readPictureFrame(config);
  // Another client may have set one that this list lacks.
  const intervals = [...new Set([...intervalsSec, intervalSec])].toSorted((a, b) => a - b);
  return (
    <SettingsForm errors={errors}>
      <Pictures
        ids={imageIds}
        onChange={(ids) => onChange(withKey(config, 'imageIds', ids))}
        error={errorOf(errors, 'imageIds')}
      />
      <SelectField
        label={t.interval}
        name="intervalSec"
        value={String(intervalSec)}
        onChange={(value) => onChange({ ...config, intervalSec: Number(value) })}
        options={intervals.map((seconds) => ({
          value: String(seconds),
          label: seconds === 0 ? t.noChange : t.every(seconds),
        }))}
        error={errorOf(errors, 'intervalSec')}
      />
      <RadioGroup
        legend={t.fit}
        name="fit"
        value={fit}
        onChange={(fit) => onChange({ ...config, fit })}
        options={[
          { value: 'cover', label: t.cover },
          { value: 'contain', label: t.contain },
        ]}
      />
    </SettingsForm>
  );
}

interface PicturesProps {
  ids: readonly string[];
  onChange: (ids: string[]) => void;
  error: string | undefined;
}

/** The person’s pictures, shown in the order in which they were chosen. New ones are uploaded here and chosen at once. */
function Pictures({ ids, onChange, error }: PicturesProps) {
  const t = texts.value;
  const hintId = useId();
  const images = useImages();
  const add = useAddImage();
  const [left, setLeft] = useState(0);

  const upload = async (files: File[]) => {
    let chosen = [...ids];
    setLeft(files.length);
    // One after the other: the service takes only so many, and the first refusal ends the rest.
    for (const [n, file] of files.entries()) {
      const added = await add.mutateAsync(file).catch(() => null);
      if (!added) break;
      chosen = [...chosen, added.id];
      onChange(chosen);
      setLeft(files.length - n - 1);
    }
    setLeft(0);
  };

  return (
    <>
      <fieldset class={css.picks} aria-describedby={hintId}>
        <legend>{t.pictures}</legend>
        <p id={hintId} class={tile.muted}>
          {t.picturesHint} {ids.length > 0 && t.chosen(ids.length)}
        </p>
        {error && (
          <p role="alert" class={tile.error}>
            {error}
          </p>
        )}
        <TileView query={images} empty={t.noPictures}>
          {(all) => (
            <div class={css.thumbnails}>
              {all.map(({ id, originalName }) => (
                <label key={id} class={css.thumbnail} title={originalName}>
                  <img src={imageAddress(id)} alt="" loading="lazy" decoding="async" />
                  <span>
                    <input
                      type="checkbox"
                      checked={ids.includes(id)}
                      onChange={({ currentTarget: { checked } }) =>
                        onChange(checked ? [...ids, id] : ids.filter((one) => one !== id))
                      }
                    />{' '}
                    <span class={css.name} dir="auto">
                      {originalName}
                    </span>
                  </span>
                </label>
              ))}
            </div>
          )}
        </TileView>
      </fieldset>
      {(images.data?.length ?? 0) < maxImages ? (
        <FileField
          label={t.upload}
          accept={imageTypes}
          multiple
          hint={left > 0 ? t.uploading(left) : t.uploadHint(formatBytes(maxImageBytes))}
          busy={left > 0}
          onFiles={(files) => void upload(files)}
        />
      ) : (
        <p class={tile.muted}>{t.full(maxImages)}</p>
      )}
      <ErrorLine error={add.error} />
    </>
  );
}
