import { useQuery } from '@tanstack/preact-query';
import { CalendarPlus, Pencil, Plus, PlugZap, Trash } from 'lucide';
import { useLocation } from 'preact-iso/router';
import { useState } from 'preact/hooks';
import type { CalendarSource, CalendarTestResult } from '@portal/client/interface';
import { PortalError } from '@portal/client/portal-error';
import { sourcesQuery } from '../dashboards/widgets/calendar-sources-query.ts';
import { useMutation } from '../mutation.ts';
import { portal, queryClient } from '../portal.ts';
import { addressOf } from '../shell/address.ts';
import { Button, IconButton } from '../ui/button.tsx';
import { ConfirmDialog } from '../ui/dialog.tsx';
import { useErrorText } from '../ui/error-text.ts';
import { SwitchField } from '../ui/field.tsx';
import { Section } from '../ui/page.tsx';
import { EmptyState, QueryView } from '../ui/states.tsx';
import { Status } from '../ui/status.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { showToast } from '../ui/toast.tsx';
import { VisuallyHidden } from '../ui/visually-hidden.tsx';
import { SourceName } from './event-dialog.tsx';
import { refreshCalendar } from './queries.ts';
import { SourceDialog } from './source-dialog.tsx';
import { SourceTestResult } from './source-test-result.tsx';
import { texts } from './source-texts.ts';

type Outcome = { result: CalendarTestResult } | { error: unknown } | 'running';

const path = '/app/calendar';

/** The calendars that the person has added. The address may open the form for one (`?edit=`) or for a new one (`?new=1`). */
export function SourcesTab() {
  const t = texts.value;
  const { query: params, route: go } = useLocation();
  const sources = useQuery(sourcesQuery);
  const [deleting, setDeleting] = useState<CalendarSource | null>(null);
  const [outcomes, setOutcomes] = useState<Readonly<Record<string, Outcome>>>({});
  const here = { view: 'sources', date: params['date'], hide: params['hide'] };
  const open = (form: { new?: string; edit?: string }) => go(addressOf(path, { ...here, ...form }));
  const close = () => go(addressOf(path, here), true);

  const test = async (id: string) => {
    const note = (outcome: Outcome) => setOutcomes((before) => ({ ...before, [id]: outcome }));
    note('running');
    try {
      note({ result: await portal.post('/calendar/sources/{id}/test', { params: { path: { id } } }) });
    } catch (error) {
      note({ error });
    }
  };
  const remove = async ({ id, name }: CalendarSource) => {
    await portal.delete('/calendar/sources/{id}', { params: { path: { id } } }).catch((error: unknown) => {
      // Deleted in another window
      if (!(error instanceof PortalError && error.code === 'NOT_FOUND')) throw error;
    });
    queryClient.setQueryData<CalendarSource[]>(sourcesQuery.queryKey, (before) =>
      before?.filter((other) => other.id !== id),
    );
    showToast(t.deleted(name));
    void refreshCalendar();
  };

  const addButton = (
    <Button kind="primary" icon={Plus} onClick={() => open({ new: '1' })}>
      {t.add}
    </Button>
  );
  return (
    <Section title={t.sources} actions={addButton}>
      <QueryView query={sources} empty={() => false}>
        {(all) => {
          const edited = all.find(({ id }) => id === params['edit']);
          return (
            <>
              <Table
                caption={t.sources}
                rows={all}
                rowKey={({ id }) => id}
                empty={<EmptyState icon={CalendarPlus} title={t.none} />}
                columns={columnsOf({
                  outcomes,
                  onTest: test,
                  onEdit: (id) => open({ edit: id }),
                  onDelete: setDeleting,
                })}
              />
              {params['new'] !== undefined && <SourceDialog all={all} onClose={close} />}
              {edited && <SourceDialog key={edited.id} source={edited} all={all} onClose={close} />}
            </>
          );
        }}
      </QueryView>
      {deleting && (
        <ConfirmDialog
          title={t.deleteTitle}
          confirmLabel={t.delete}
          danger
          onConfirm={() => remove(deleting)}
          onClose={() => setDeleting(null)}
        >
          {t.deleteText(deleting.name)}
        </ConfirmDialog>
      )}
    </Section>
  );
}

interface RowActions {
  outcomes: Readonly<Record<string, Outcome>>;
  onTest: (id: string) => Promise<void>;
  onEdit: (id: string) => void;
  onDelete: (source: CalendarSource) => void;
}

function columnsOf({ outcomes, onTest, onEdit, onDelete }: RowActions): Column<CalendarSource>[] {
  const t = texts.value;
  return [
    { key: 'name', label: t.name, cell: (source) => <SourceName source={source} /> },
    { key: 'kind', label: t.kind, cell: ({ kind }) => t.kinds[kind], hideOnCard: true },
    { key: 'url', label: t.address, cell: ({ url }) => url },
    { key: 'active', label: t.active, cell: (source) => <ActiveSwitch source={source} /> },
    { key: 'state', label: t.state, cell: ({ id }) => <TestState outcome={outcomes[id]} /> },
    {
      key: 'actions',
      label: '',
      cell: (source) => (
        <>
          <IconButton
            icon={PlugZap}
            label={t.testOf(source.name)}
            busy={outcomes[source.id] === 'running'}
            onClick={() => void onTest(source.id)}
          />
          <IconButton icon={Pencil} label={t.editOf(source.name)} onClick={() => onEdit(source.id)} />
          <IconButton icon={Trash} label={t.deleteOf(source.name)} onClick={() => onDelete(source)} />
        </>
      ),
    },
  ];
}

function ActiveSwitch({ source: { id, name, isActive } }: { source: CalendarSource }) {
  const save = useMutation({
    mutationFn: (wanted: boolean) =>
      portal.patch('/calendar/sources/{id}', { params: { path: { id } }, body: { isActive: wanted } }),
    onSuccess: (saved) => {
      queryClient.setQueryData<CalendarSource[]>(sourcesQuery.queryKey, (before) =>
        before?.map((other) => (other.id === id ? saved : other)),
      );
    },
    onSettled: refreshCalendar,
  });
  return (
    <>
      <SwitchField
        label={<VisuallyHidden>{texts.value.activeOf(name)}</VisuallyHidden>}
        name={`active-${id}`}
        checked={save.isPending ? save.variables : isActive}
        onChange={(wanted) => save.mutate(wanted)}
      />
      {save.error && <Refused error={save.error} />}
    </>
  );
}

function TestState({ outcome }: { outcome: Outcome | undefined }) {
  const t = texts.value;
  return (
    <div role="status">
      {outcome === undefined && <Status kind="unknown">{t.untested}</Status>}
      {outcome === 'running' && `${t.testing} …`}
      {typeof outcome === 'object' && 'result' in outcome && <SourceTestResult result={outcome.result} />}
      {typeof outcome === 'object' && 'error' in outcome && <Refused error={outcome.error} />}
    </div>
  );
}

const Refused = ({ error }: { error: unknown }) => <Status kind="error">{useErrorText(error).text}</Status>;
