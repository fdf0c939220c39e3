import { useId, useState } from 'preact/hooks';
import type { DashboardBackground, Profile } from '@portal/client/interface';
import { backgroundStyle } from '../dashboards/background-style.ts';
import { useAddImage } from '../dashboards/image-changes.ts';
import { imageAddress, useImages } from '../dashboards/images.ts';
import { imageTypes } from '../dashboards/picture-files.ts';
import { useRefusalText } from '../dashboards/refusal-text.ts';
import { formatNumber } from '../language.ts';
import { Button } from '../ui/button.tsx';
import { FileField, RadioGroup, SelectField } from '../ui/field.tsx';
import { fieldErrors, Form } from '../ui/form.tsx';
import { Card } from '../ui/page.tsx';
import { QueryView } from '../ui/states.tsx';
import { Status } from '../ui/status.tsx';
import { showToast } from '../ui/toast.tsx';
import { type BackgroundDraft, backgroundOf, draftOf, isComplete } from './background-draft.ts';
import { ColorField } from './color-field.tsx';
import { texts } from './profile-texts.ts';
import s from './profile.module.css';
import { useSaveBackground } from './queries.ts';
import { RangeField } from './range-field.tsx';

const kinds = ['none', 'color', 'gradient', 'image'] as const;

export function BackgroundCard({ profile }: { profile: Profile }) {
  const t = texts.value;
  const [changes, setChanges] = useState<Partial<BackgroundDraft>>({});
  const draft = { ...draftOf(profile.dashboardBackground), ...changes };
  const change = (some: Partial<BackgroundDraft>) => setChanges((before) => ({ ...before, ...some }));
  const save = useSaveBackground();
  const submit = async () => {
    await save.mutateAsync(backgroundOf(draft));
    setChanges((now) => (now === changes ? {} : now));
    showToast(t.saved, { kind: 'success' });
  };
  const discard = () => {
    save.reset();
    setChanges({});
  };
  const fields = { draft, change, errors: fieldErrors(save.error) };

  return (
    <Card title={t.backgroundTitle}>
      <Form
        onSubmit={submit}
        error={save.error}
        actions={
          <>
            <Button type="submit" kind="primary" busy={save.isPending}>
              {t.save}
            </Button>
            {Object.keys(changes).length > 0 && <Button onClick={discard}>{t.discard}</Button>}
          </>
        }
      >
        <RadioGroup
          legend={t.background}
          name="kind"
          value={draft.kind}
          onChange={(kind) => change({ kind })}
          options={kinds.map((kind) => ({ value: kind, label: t.kinds[kind] }))}
        />
        {draft.kind === 'color' && (
          <ColorField
            label={t.color}
            name="color"
            value={draft.color}
            onInput={(color) => change({ color })}
            error={fields.errors['color']}
          />
        )}
        {draft.kind === 'gradient' && <GradientFields {...fields} />}
        {draft.kind === 'image' && <ImageFields {...fields} />}
        <Preview background={backgroundOf(draft)} />
      </Form>
    </Card>
  );
}

interface PartProps {
  draft: BackgroundDraft;
  change: (some: Partial<BackgroundDraft>) => void;
  errors: Record<string, string>;
}

function GradientFields({ draft, change, errors }: PartProps) {
  const t = texts.value;
  return (
    <>
      <div class={s.columns}>
        <ColorField
          label={t.from}
          name="from"
          value={draft.from}
          onInput={(from) => change({ from })}
          error={errors['from']}
        />
        <ColorField label={t.to} name="to" value={draft.to} onInput={(to) => change({ to })} error={errors['to']} />
      </div>
      <RangeField
        label={t.angle}
        name="angle"
        value={draft.angle}
        onInput={(angle) => change({ angle })}
        min={0}
        max={360}
        text={t.degrees(formatNumber(draft.angle))}
      />
    </>
  );
}

const fits = ['cover', 'contain', 'tile'] as const;

function ImageFields({ draft, change, errors }: PartProps) {
  const t = texts.value;
  return (
    <>
      <ImageChoice
        imageId={draft.imageId}
        onChoose={(imageId) => change({ imageId })}
        isMissing={errors['imageId'] !== undefined && draft.imageId === ''}
      />
      <div class={s.columns}>
        <SelectField
          label={t.fit}
          name="fit"
          value={draft.fit}
          onChange={(value) => change({ fit: fits.find((fit) => fit === value) ?? 'cover' })}
          options={fits.map((fit) => ({ value: fit, label: t.fits[fit] }))}
        />
        <RangeField
          label={t.dim}
          name="dim"
          value={draft.dim}
          onInput={(dim) => change({ dim })}
          min={0}
          max={100}
          text={t.percent(formatNumber(draft.dim))}
        />
        <RangeField
          label={t.blur}
          name="blur"
          value={draft.blur}
          onInput={(blur) => change({ blur })}
          min={0}
          max={40}
          text={t.pixels(formatNumber(draft.blur))}
        />
      </div>
    </>
  );
}

interface ImageChoiceProps {
  imageId: string;
  onChoose: (imageId: string) => void;
  /** The service refused the background, because no picture was chosen. */
  isMissing: boolean;
}

function ImageChoice({ imageId, onChoose, isMissing }: ImageChoiceProps) {
  const t = texts.value;
  const errorId = useId();
  const images = useImages();
  return (
    <>
      <fieldset
        role="radiogroup"
        tabIndex={-1}
        aria-invalid={isMissing || undefined}
        aria-describedby={isMissing ? errorId : undefined}
      >
        <legend class={s.legend}>{t.image}</legend>
        <QueryView query={images} emptyState={<p class={s.note}>{t.noImages}</p>}>
          {(all) => (
            <div class={s.images}>
              {all.map(({ id, originalName }) => (
                <label key={id} class={s.image} title={originalName}>
                  <img src={imageAddress(id)} alt="" loading="lazy" decoding="async" width={96} height={72} />
                  <input
                    type="radio"
                    name="imageId"
                    value={id}
                    checked={id === imageId}
                    onChange={() => onChoose(id)}
                  />
                  <bdi>{originalName}</bdi>
                </label>
              ))}
            </div>
          )}
        </QueryView>
        {isMissing && (
          <div id={errorId}>
            <Status kind="error">{t.chooseImage}</Status>
          </div>
        )}
      </fieldset>
      <UploadImage onUploaded={onChoose} />
      <a href="/app/images">{t.manageImages}</a>
    </>
  );
}

const noFile = new File([], '');

function UploadImage({ onUploaded }: { onUploaded: (imageId: string) => void }) {
  const t = texts.value;
  const add = useAddImage();
  const refusal = useRefusalText(add.variables ?? noFile, add.error);
  return (
    <FileField
      label={t.upload}
      accept={imageTypes}
      busy={add.isPending}
      error={add.isError ? refusal : undefined}
      onFiles={([file]) => file && add.mutate(file, { onSuccess: ({ id }) => onUploaded(id) })}
    />
  );
}

/** A small dashboard in front of the background. */
function Preview({ background }: { background: DashboardBackground }) {
  const style = isComplete(background) ? backgroundStyle(background) : null;
  return (
    <div class={s.preview} role="img" aria-label={texts.value.preview}>
      {style && <div class={s.backdrop} style={style} />}
      <span />
      <span />
      <span />
    </div>
  );
}
