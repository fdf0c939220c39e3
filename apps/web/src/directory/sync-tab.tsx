import { Eye, RefreshCw } from 'lucide';
import { useRef, useState } from 'preact/hooks';
import type { LdapConfig, LdapSyncRun } from '@portal/client/interface';
import { PortalError } from '@portal/client/portal-error';
import profile from '../accounts/profile.module.css';
import { useMutation } from '../mutation.ts';
import { RunProgress } from '../operations/run-progress.tsx';
import { portal } from '../portal.ts';
import { Button, LinkButton } from '../ui/button.tsx';
import formStyle from '../ui/form.module.css';
import { Form } from '../ui/form.tsx';
import { Card } from '../ui/page.tsx';
import { EmptyState, Progress, QueryView } from '../ui/states.tsx';
import { Status } from '../ui/status.tsx';
import { Time } from '../ui/time.tsx';
import { showToast } from '../ui/toast.tsx';
import { ChangesTable } from './changes-table.tsx';
import { Counts } from './counts.tsx';
import { DirectoryCallFailed } from './directory-failed.tsx';
import { ForceDialog } from './force-dialog.tsx';
import { isUnfinished, refreshAfterRun, usePreview, useRuns } from './queries.ts';
import { RunResult } from './run-result.tsx';
import { SyncWarnings } from './sync-warnings.tsx';
import { texts } from './texts.ts';

/** Shows what a synchronization would change, starts one, and follows it. */
export function SyncTab({ config }: { config: LdapConfig }) {
  const t = texts.value;
  const [isForcing, setForcing] = useState(false);
  // The run that was started here, until its end is known: it may end before the list shows it.
  const [followedId, follow] = useState<string | null>(null);
  const runs = useRuns();
  const state = useRef<HTMLDivElement>(null);
  const start = useMutation({
    mutationFn: (force: boolean) => portal.post('/ldap/sync', { body: { force } }),
    onSuccess: (started) => {
      follow('runId' in started ? started.runId : started.id);
      return runs.refetch();
    },
    onError: (error) => {
      if (!isRunning(error)) return;
      showToast(t.alreadyRunning);
      void runs.refetch();
    },
  });

  if (config.serverUrl === null)
    return (
      <EmptyState title={t.notConfigured} action={<LinkButton href="/app/admin/directory">{t.toSettings}</LinkButton>}>
        {t.notConfiguredText}
      </EmptyState>
    );

  const force = () => setForcing(true);
  const run = async () => {
    await start.mutateAsync(false);
    // The button is gone.
    state.current?.focus({ preventScroll: true });
  };
  return (
    <>
      <Card title={t.tab.sync}>
        {config.isActive === false && <Status kind="warning">{t.isOff}</Status>}
        <QueryView query={runs}>
          {({ pages }) => {
            const last = pages[0]?.items[0];
            const isGoingOn = last !== undefined && (isUnfinished(last) || last.id === followedId);
            return (
              <div ref={state} class={formStyle.form} tabIndex={-1}>
                {isGoingOn && <Following key={last.id} runId={last.id} onEnd={() => follow(null)} />}
                {last && !isGoingOn && <LastRun run={last} onForce={force} />}
                {!isGoingOn && (
                  <Form
                    label={t.run}
                    onSubmit={run}
                    error={isRunning(start.error) ? null : start.error}
                    actions={
                      <Button type="submit" kind="primary" icon={RefreshCw} busy={start.isPending}>
                        {t.run}
                      </Button>
                    }
                  >
                    <p class={profile.note}>{t.runHint}</p>
                  </Form>
                )}
              </div>
            );
          }}
        </QueryView>
      </Card>
      <Preview onForce={runs.data?.pages[0]?.items[0]?.state === 'blocked' ? null : force} />
      {isForcing && <ForceDialog onForce={() => start.mutateAsync(true)} onClose={() => setForcing(false)} />}
    </>
  );
}

const isRunning = (error: unknown): boolean => error instanceof PortalError && error.code === 'SYNC_RUNNING';

function Following({ runId, onEnd }: { runId: string; onEnd: () => void }) {
  const end = async () => {
    await refreshAfterRun();
    onEnd();
  };
  return (
    <>
      <h3>{texts.value.running}</h3>
      <RunProgress runId={runId} onEnd={() => void end()} />
    </>
  );
}

function LastRun({ run, onForce }: { run: LdapSyncRun; onForce: () => void }) {
  const t = texts.value;
  return (
    <>
      <h3>
        {t.lastRun} {run.finishedAt && <Time value={run.finishedAt} />}
      </h3>
      <RunResult run={run} />
      {run.state === 'blocked' && <Brake onForce={onForce} />}
    </>
  );
}

function Brake({ onForce }: { onForce: () => void }) {
  const t = texts.value;
  return (
    <>
      <p>{t.brakeText}</p>
      <p>{t.brakeForce}</p>
      <div class={formStyle.actions}>
        <Button kind="danger" onClick={onForce}>
          {t.force}
        </Button>
      </div>
    </>
  );
}

/** Without `onForce`, the last run already offers to force it. */
function Preview({ onForce }: { onForce: (() => void) | null }) {
  const t = texts.value;
  const preview = usePreview();
  const { data, error, isFetching } = preview;
  return (
    <Card
      title={t.preview}
      actions={
        <Button icon={Eye} busy={isFetching} onClick={() => void preview.refetch()}>
          {data ? t.renewPreview : t.makePreview}
        </Button>
      }
    >
      <p class={profile.note}>
        {t.previewHint}{' '}
        {data && (
          <>
            {t.asOf} <Time value={preview.dataUpdatedAt} />
          </>
        )}
      </p>
      <div role="status">{isFetching && <Progress label={t.reading} />}</div>
      {error && !isFetching && <DirectoryCallFailed error={error} onRetry={() => void preview.refetch()} />}
      {data && !error && (
        <>
          <Counts counts={data.counts} />
          {data.isBlocked && (
            <>
              <Status kind="warning">
                <strong>{t.brakeTitle}</strong>
              </Status>
              <p>{t.brakePreview}</p>
              {onForce && <Brake onForce={onForce} />}
            </>
          )}
          <SyncWarnings warnings={data.warnings} />
          <ChangesTable preview={data} />
        </>
      )}
    </Card>
  );
}
