import { useQuery } from '@tanstack/preact-query';
import { Search, Trash2 } from 'lucide';
import { useEffect, useState } from 'preact/hooks';
import type { Favorite } from '@portal/client/interface';
import { useMutation } from '../../mutation.ts';
import { portal } from '../../portal.ts';
import { Button } from '../../ui/button.tsx';
import { FileField, TextField } from '../../ui/field.tsx';
import { fieldErrors, Form } from '../../ui/form.tsx';
import { Progress } from '../../ui/states.tsx';
import { texts } from './favorites-dialog-texts.ts';
import css from './favorites-dialog.module.css';
import { withScheme } from './favorites-order.ts';
import { ErrorLine } from './tile-view.tsx';

interface Props {
  favorite: Favorite;
  /** The favorite or its icon changed. */
  onChange: () => unknown;
  onDone: () => void;
}

/** Title, address and icon of one favorite. */
export function FavoriteForm({ favorite, onChange, onDone }: Props) {
  const t = texts.value;
  const [title, setTitle] = useState(favorite.title);
  const [url, setUrl] = useState(favorite.url);
  const change = useMutation({
    mutationFn: (body: { title: string; url: string }) =>
      portal.patch('/favorites/{id}', { params: { path: { id: favorite.id } }, body }),
    onSuccess: async () => {
      await onChange();
      onDone();
    },
  });
  const errors = fieldErrors(change.error);
  return (
    <div class={css.form}>
      <Form
        label={t.change(favorite.title)}
        onSubmit={() => change.mutateAsync({ title, url: withScheme(url) })}
        error={change.error}
        actions={
          <>
            <Button type="submit" kind="primary" busy={change.isPending}>
              {t.save}
            </Button>
            <Button onClick={onDone}>{t.cancel}</Button>
          </>
        }
      >
        <TextField
          label={t.name}
          name="title"
          value={title}
          onInput={setTitle}
          error={errors['title']}
          maxLength={200}
          autofocus
          required
        />
        <TextField
          label={t.address}
          name="url"
          value={url}
          onInput={setUrl}
          error={errors['url']}
          maxLength={2_048}
          required
        />
      </Form>
      <IconForm favorite={favorite} onChange={onChange} />
    </div>
  );
}

function IconForm({ favorite, onChange }: Pick<Props, 'favorite' | 'onChange'>) {
  const t = texts.value;
  const { id, hasUploadedIcon, iconUrl } = favorite;
  const params = { path: { id } };
  const upload = useMutation({
    mutationFn: (file: File) => portal.post('/favorites/{id}/icon', { params, body: { icon: file } }),
    onSuccess: onChange,
  });
  const remove = useMutation({
    mutationFn: () => portal.delete('/favorites/{id}/icon', { params }),
    onSuccess: onChange,
  });
  return (
    <>
      <FileField
        label={t.ownIcon}
        accept="image/png,image/jpeg,image/gif,image/webp,image/x-icon,image/svg+xml,.ico"
        hint={t.ownIconHint}
        busy={upload.isPending}
        onFiles={([file]) => file && upload.mutate(file)}
      />
      <div class={css.buttons}>
        {(hasUploadedIcon || iconUrl !== null) && (
          <Button icon={Trash2} busy={remove.isPending} onClick={() => remove.mutate()}>
            {t.removeIcon}
          </Button>
        )}
        {/* A search would keep the uploaded icon. */}
        {!hasUploadedIcon && <IconSearch favorite={favorite} onChange={onChange} />}
      </div>
      <ErrorLine error={upload.error ?? remove.error} />
    </>
  );
}

const runPollMs = 1_000;

/** Starts a search for the icon of the page and shows its run. */
function IconSearch({ favorite: { id, iconVersion }, onChange }: Pick<Props, 'favorite' | 'onChange'>) {
  const t = texts.value;
  const [versionBefore, setVersionBefore] = useState(iconVersion);
  const start = useMutation({
    mutationFn: () => portal.post('/favorites/{id}/discover-icon', { params: { path: { id } } }),
  });
  const search = () => {
    setVersionBefore(iconVersion);
    start.mutate();
  };
  const runId = start.data && 'runId' in start.data ? start.data.runId : '';
  const run = useQuery({
    queryKey: ['runs', runId],
    queryFn: ({ signal }) => portal.get('/runs/{id}', { params: { path: { id: runId } }, signal }),
    enabled: runId !== '',
    refetchInterval: ({ state }) => !isOver(state.data?.state) && runPollMs,
  });
  const state = runId === '' ? undefined : (run.data?.state ?? 'queued');
  const hasEnded = isOver(state);
  const [reloadedFor, setReloadedFor] = useState('');
  useEffect(() => {
    if (hasEnded) void Promise.resolve(onChange()).then(() => setReloadedFor(runId));
  }, [runId, hasEnded]);
  return (
    <>
      <Button icon={Search} busy={start.isPending || state === 'queued' || state === 'running'} onClick={search}>
        {t.search}
      </Button>
      <div role="status">
        {(state === 'queued' || state === 'running') && <Progress label={t[state]} />}
        {state === 'succeeded' && reloadedFor === runId && (iconVersion > versionBefore ? t.found : t.notFound)}
        {state === 'failed' && t.searchFailed}
      </div>
      <ErrorLine error={start.error ?? run.error} />
    </>
  );
}

const isOver = (state: string | undefined): boolean => state === 'succeeded' || state === 'failed';
