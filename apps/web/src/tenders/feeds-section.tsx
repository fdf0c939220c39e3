import { Pencil, Plus, Rss, Trash } from 'lucide';
import { useState } from 'preact/hooks';
import type { RssFeed } from '@portal/client/interface';
import { PortalError } from '@portal/client/portal-error';
import { useMutation } from '../mutation.ts';
import { usePolled } from '../polling.ts';
import { portal, queryClient } from '../portal.ts';
import { isAdmin } from '../session.ts';
import { Badge } from '../ui/badge.tsx';
import { Button, IconButton } from '../ui/button.tsx';
import { ConfirmDialog, Dialog } from '../ui/dialog.tsx';
import { useErrorText } from '../ui/error-text.ts';
import { RadioGroup, SwitchField, TextField } from '../ui/field.tsx';
import { fieldErrors, Form } from '../ui/form.tsx';
import { Section } from '../ui/page.tsx';
import { EmptyState, QueryView } from '../ui/states.tsx';
import { Status } from '../ui/status.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { showToast } from '../ui/toast.tsx';
import { useStoredForm } from '../ui/use-stored-form.tsx';
import { VisuallyHidden } from '../ui/visually-hidden.tsx';
import { At } from './sources-health.tsx';
import { SourceState } from './sources-state.tsx';
import { texts } from './sources-texts.ts';

const queryKey = ['tenders', 'feeds'] as const;
const intervalMs = 30_000;

type Scope = RssFeed['scope'];
type Open = { kind: 'new' } | { kind: 'edit' | 'delete'; feed: RssFeed };

function refresh() {
  void queryClient.invalidateQueries({ queryKey: ['tenders', 'sources'] });
  return queryClient.invalidateQueries({ queryKey });
}

/** Feeds as sources: everybody has some of their own, administrators those of the whole platform. */
export function FeedsSection() {
  const t = texts.value;
  const [open, setOpen] = useState<Open | null>(null);
  const query = usePolled({ queryKey, queryFn: ({ signal }) => portal.get('/rss-feeds', { signal }), intervalMs });
  const close = () => setOpen(null);
  const remove = async ({ id }: RssFeed) => {
    await portal.delete('/rss-feeds/{id}', { params: { path: { id } } }).catch((error: unknown) => {
      // Removed in another window
      if (!(error instanceof PortalError && error.code === 'NOT_FOUND')) throw error;
    });
    queryClient.setQueryData<RssFeed[]>(queryKey, (before) => before?.filter((other) => other.id !== id));
    showToast(t.feedDeleted);
    void refresh();
  };
  return (
    <Section
      title={t.feeds}
      actions={
        <Button icon={Plus} onClick={() => setOpen({ kind: 'new' })}>
          {t.addFeed}
        </Button>
      }
    >
      <QueryView query={query} empty={() => false}>
        {(feeds) => (
          <Table
            caption={t.feeds}
            rows={feeds}
            rowKey={({ id }) => id}
            empty={
              <EmptyState icon={Rss} title={t.noFeeds}>
                {t.noFeedsText}
              </EmptyState>
            }
            columns={columnsOf(setOpen)}
          />
        )}
      </QueryView>
      {open?.kind === 'new' && <AddFeedDialog onClose={close} />}
      {open?.kind === 'edit' && <RenameFeedDialog feed={open.feed} onClose={close} />}
      {open?.kind === 'delete' && (
        <ConfirmDialog
          title={t.deleteFeedTitle}
          confirmLabel={t.delete}
          danger
          onConfirm={() => remove(open.feed)}
          onClose={close}
        >
          {open.feed.scope === 'platform' ? t.deletePlatformFeed(nameOf(open.feed)) : t.deleteFeed(nameOf(open.feed))}
        </ConfirmDialog>
      )}
    </Section>
  );
}

function columnsOf(onOpen: (open: Open) => void): Column<RssFeed>[] {
  const t = texts.value;
  return [
    {
      key: 'name',
      label: t.feed,
      cell: ({ title, url }) => (
        <>
          {title && <div>{title}</div>}
          <small>{url}</small>
        </>
      ),
    },
    {
      key: 'scope',
      label: t.scope,
      cell: ({ scope }) => <Badge kind={scope === 'platform' ? 'info' : 'neutral'}>{t.scopes[scope]}</Badge>,
    },
    { key: 'state', label: t.state, cell: (feed) => <SourceState source={feed} /> },
    { key: 'lastSuccess', label: t.lastSuccess, cell: ({ lastSuccessAt }) => <At value={lastSuccessAt} /> },
    { key: 'active', label: t.active, cell: (feed) => <ActiveSwitch feed={feed} /> },
    {
      key: 'actions',
      label: '',
      cell: (feed) =>
        mayChange(feed) && (
          <>
            <IconButton icon={Pencil} label={t.renameOf(nameOf(feed))} onClick={() => onOpen({ kind: 'edit', feed })} />
            <IconButton
              icon={Trash}
              label={t.deleteOf(nameOf(feed))}
              onClick={() => onOpen({ kind: 'delete', feed })}
            />
          </>
        ),
    },
  ];
}

const nameOf = ({ title, url }: RssFeed): string => title ?? url;
const mayChange = ({ scope }: RssFeed): boolean => scope === 'personal' || isAdmin.value;

function ActiveSwitch({ feed }: { feed: RssFeed }) {
  const t = texts.value;
  const { id, isActive } = feed;
  const save = useMutation({
    mutationFn: (wanted: boolean) =>
      portal.patch('/rss-feeds/{id}', { params: { path: { id } }, body: { isActive: wanted } }),
    onSuccess: (saved) => {
      queryClient.setQueryData<RssFeed[]>(queryKey, (before) =>
        before?.map((other) => (other.id === id ? saved : other)),
      );
    },
    onSettled: refresh,
  });
  if (!mayChange(feed)) return <>{isActive ? t.yes : t.no}</>;
  return (
    <>
      <SwitchField
        label={<VisuallyHidden>{t.activeOf(nameOf(feed))}</VisuallyHidden>}
        name={`active-${id}`}
        checked={save.isPending ? save.variables : isActive}
        onChange={(wanted) => save.mutate(wanted)}
      />
      {save.error && <Refused error={save.error} />}
    </>
  );
}

const Refused = ({ error }: { error: unknown }) => <Status kind="error">{useErrorText(error).text}</Status>;

/** A new feed. */
function AddFeedDialog({ onClose }: { onClose: () => void }) {
  const t = texts.value;
  const [url, setUrl] = useState('');
  const [title, setTitle] = useState('');
  const [scope, setScope] = useState<Scope>('personal');
  const add = useMutation({
    mutationFn: () => portal.post('/rss-feeds', { body: { url, title: storedTitle(title), scope } }),
    onSuccess: () => {
      showToast(t.feedAdded, { kind: 'success' });
      onClose();
      return refresh();
    },
  });
  const errors = fieldErrors(add.error);
  const isTaken = add.error instanceof PortalError && add.error.code === 'FEED_EXISTS';
  return (
    <Dialog title={t.addFeed} onClose={onClose}>
      <Form
        label={t.addFeed}
        onSubmit={() => add.mutateAsync()}
        error={add.error}
        actions={<Buttons label={t.add} busy={add.isPending} {...{ onClose }} />}
      >
        <TextField
          label={t.feedUrl}
          name="url"
          type="url"
          required
          value={url}
          onInput={setUrl}
          hint={t.feedUrlHint}
          error={errors['url'] ?? (isTaken ? t.feedTaken : undefined)}
        />
        <TitleField value={title} onInput={setTitle} error={errors['title']} />
        {isAdmin.value && (
          <RadioGroup
            legend={t.scope}
            name="scope"
            value={scope}
            onChange={setScope}
            options={(['personal', 'platform'] as const).map((value) => ({
              value,
              label: t.scopes[value],
              hint: t.scopeHints[value],
            }))}
          />
        )}
      </Form>
    </Dialog>
  );
}

/** Another title for a feed. Administrators share those of the platform. */
function RenameFeedDialog({ feed, onClose }: { feed: RssFeed; onClose: () => void }) {
  const t = texts.value;
  const { id } = feed;
  const form = useStoredForm<RssFeed, { title: string }>({
    row: feed,
    draftOf: ({ title }) => ({ title: title ?? '' }),
    read: async () => (await portal.get('/rss-feeds')).find((one) => one.id === id) ?? feed,
    write: ({ title }) =>
      portal.patch('/rss-feeds/{id}', { params: { path: { id } }, body: { title: storedTitle(title) } }),
    onSaved: () => {
      showToast(t.feedSaved, { kind: 'success' });
      onClose();
      void refresh();
    },
    labels: { title: t.feedTitle },
  });
  return (
    <Dialog title={t.renameFeed} onClose={onClose}>
      <Form
        label={t.renameFeed}
        onSubmit={form.submit}
        error={form.error}
        actions={<Buttons label={t.save} busy={form.isSaving} {...{ onClose }} />}
      >
        <TitleField value={form.draft.title} onInput={form.set('title')} error={fieldErrors(form.error)['title']} />
      </Form>
      {form.question}
    </Dialog>
  );
}

const storedTitle = (title: string): string | null => (title.trim() === '' ? null : title);

function Buttons({ label, busy, onClose }: { label: string; busy: boolean; onClose: () => void }) {
  return (
    <>
      <Button type="submit" kind="primary" busy={busy}>
        {label}
      </Button>
      <Button onClick={onClose}>{texts.value.cancel}</Button>
    </>
  );
}

interface TitleFieldProps {
  value: string;
  onInput: (value: string) => void;
  error: string | undefined;
}

const TitleField = (props: TitleFieldProps) => (
  <TextField label={texts.value.feedTitle} name="title" maxLength={200} hint={texts.value.feedTitleHint} {...props} />
);
