import { Images, Trash2 } from 'lucide';
import { useState } from 'preact/hooks';
import type { DashboardImage } from '@portal/client/interface';
import { PortalError } from '@portal/client/portal-error';
import { formatBytes, formatNumber } from '../language.ts';
import { pageNames } from '../shell/page-names.ts';
import { Badge } from '../ui/badge.tsx';
import { Button, IconButton } from '../ui/button.tsx';
import { ConfirmDialog } from '../ui/dialog.tsx';
import { FileField } from '../ui/field.tsx';
import { Card, Page } from '../ui/page.tsx';
import { EmptyState, Progress, QueryView, Skeleton } from '../ui/states.tsx';
import { Status } from '../ui/status.tsx';
import { Time } from '../ui/time.tsx';
import { showToast } from '../ui/toast.tsx';
import { isBackground, useAddImage, useDashboardsWithFrame, useDeleteImage } from './image-changes.ts';
import { texts } from './images-texts.ts';
import s from './images.module.css';
import { imageAddress, useImages } from './images.ts';
import { imageTypes, maxImageBytes, maxImages } from './picture-files.ts';
import { useRefusalText } from './refusal-text.ts';

export function ImagesPage() {
  const t = texts.value;
  const images = useImages();
  const [doomed, setDoomed] = useState<DashboardImage | null>(null);
  return (
    <Page title={pageNames.value.images} intro={t.intro}>
      <Upload count={images.data?.length ?? 0} />
      <QueryView
        query={images}
        emptyState={
          <EmptyState icon={Images} title={t.empty}>
            {t.emptyText}
          </EmptyState>
        }
      >
        {(all) => (
          <>
            <p class={s.facts} role="status">
              {t.count(formatNumber(all.length), formatNumber(maxImages))}
            </p>
            <ul class={s.grid}>
              {all.map((image) => (
                <Picture key={image.id} image={image} onDelete={() => setDoomed(image)} />
              ))}
            </ul>
          </>
        )}
      </QueryView>
      {doomed && <DeleteDialog image={doomed} onClose={() => setDoomed(null)} />}
    </Page>
  );
}

function Picture({ image, onDelete }: { image: DashboardImage; onDelete: () => void }) {
  const t = texts.value;
  const { id, originalName, sizeBytes, createdAt } = image;
  return (
    <li class={s.picture}>
      <img src={imageAddress(id)} alt="" loading="lazy" decoding="async" width={240} height={180} />
      <div>
        <p class={s.name} dir="auto" title={originalName}>
          {originalName}
        </p>
        <p class={s.facts}>
          {formatBytes(sizeBytes)} · <Time value={createdAt} style="date" />
        </p>
        {isBackground(id) && <Badge>{t.isBackground}</Badge>}
      </div>
      <IconButton icon={Trash2} label={t.deleteNamed(originalName)} onClick={onDelete} />
    </li>
  );
}

interface Refused {
  file: File;
  /** Null if the file was not sent, because the picture before met the limit. */
  error: unknown;
}

/** Sends the files one after the other. Those refused stay listed, so that the person can send them again. */
function Upload({ count }: { count: number }) {
  const t = texts.value;
  const add = useAddImage();
  const [progress, setProgress] = useState<{ done: number; total: number } | null>(null);
  const [refused, setRefused] = useState<Refused[]>([]);
  const isFull = count >= maxImages;
  const repeatable = refused.filter(({ error }) => !isFinal(error)).map(({ file }) => file);

  const upload = async (files: readonly File[]) => {
    const failed: Refused[] = [];
    let isLimitMet = false;
    for (const [done, file] of files.entries()) {
      setProgress({ done, total: files.length });
      if (isLimitMet) {
        failed.push({ file, error: null });
        continue;
      }
      try {
        // One after the other: thirty at once would take the bandwidth of everything else.
        await add.mutateAsync(file);
      } catch (error) {
        failed.push({ file, error });
        isLimitMet = error instanceof PortalError && error.code === 'IMAGE_LIMIT';
      }
    }
    setProgress(null);
    setRefused(failed);
    const added = files.length - failed.length;
    if (added > 0) showToast(t.uploaded(added, formatNumber(added)), { kind: 'success' });
  };

  return (
    <Card>
      <FileField
        label={t.upload}
        accept={imageTypes}
        multiple
        busy={progress !== null}
        disabled={isFull}
        hint={isFull ? t.isFull(formatNumber(maxImages)) : t.uploadHint(formatBytes(maxImageBytes))}
        onFiles={(files) => void upload(files)}
      />
      {progress && (
        <Progress
          label={t.uploading(formatNumber(progress.done + 1), formatNumber(progress.total))}
          value={progress.done}
          max={progress.total}
        />
      )}
      <div role="alert">{refused.length > 0 && <RefusedFiles refused={refused} />}</div>
      {refused.length > 0 && (
        <div class={s.actions}>
          {repeatable.length > 0 && (
            <Button busy={progress !== null} onClick={() => void upload(repeatable)}>
              {t.retry}
            </Button>
          )}
          <Button kind="ghost" onClick={() => setRefused([])}>
            {t.dismiss}
          </Button>
        </div>
      )}
    </Card>
  );
}

/** True for a refusal of the file itself, which another try does not change. */
const isFinal = (error: unknown): boolean => error instanceof PortalError && [400, 413, 415].includes(error.status);

function RefusedFiles({ refused }: { refused: readonly Refused[] }) {
  return (
    <>
      <Status kind="error">{texts.value.refusedTitle}</Status>
      <ul class={s.refused}>
        {refused.map((each, index) => (
          <RefusedFile key={index} {...each} />
        ))}
      </ul>
    </>
  );
}

function RefusedFile({ file, error }: Refused) {
  const text = useRefusalText(file, error);
  return (
    <li>
      <strong>
        <bdi>{file.name}</bdi>
      </strong>
      {': '}
      {error === null ? texts.value.notTried : text}
    </li>
  );
}

function DeleteDialog({ image, onClose }: { image: DashboardImage; onClose: () => void }) {
  const t = texts.value;
  const remove = useDeleteImage();
  const confirm = async () => {
    await remove.mutateAsync(image.id);
    showToast(t.deleted, { kind: 'success' });
  };
  return (
    <ConfirmDialog title={t.deleteTitle} confirmLabel={t.delete} danger onConfirm={confirm} onClose={onClose}>
      <p>{t.deleteText(image.originalName)}</p>
      <Uses id={image.id} />
    </ConfirmDialog>
  );
}

function Uses({ id }: { id: string }) {
  const t = texts.value;
  const frames = useDashboardsWithFrame(id);
  if (frames.isError) return <p>{t.usesUnknown}</p>;
  if (!frames.data) return <Skeleton lines={1} />;
  const uses = [
    ...(isBackground(id) ? [t.usedAsBackground] : []),
    ...frames.data.map((dashboard) => t.usedInFrame(dashboard)),
  ];
  if (uses.length === 0) return <p>{t.unused}</p>;
  return (
    <>
      <p>{t.used}</p>
      <ul>
        {uses.map((use, index) => (
          <li key={index}>{use}</li>
        ))}
      </ul>
    </>
  );
}
