import { BellRing, Cloud, History, ListChecks, Plus, X } from 'lucide';
import { useLocation } from 'preact-iso/router';
import { useMemo, useState } from 'preact/hooks';
import type { CloudInstance, CloudOverview } from '@portal/client/interface';
import { texts as statusTexts } from '../dashboards/widgets/status-texts.ts';
import { useMutation } from '../mutation.ts';
import { RunProgress } from '../operations/run-progress.tsx';
import { portal } from '../portal.ts';
import { addressOf } from '../shell/address.ts';
import { hasModule, useManages } from '../shell/modules.ts';
import { pageNames } from '../shell/page-names.ts';
import { Button, IconButton, LinkButton } from '../ui/button.tsx';
import { TextField } from '../ui/field.tsx';
import { Near } from '../ui/near.tsx';
import { Card, Page, Section } from '../ui/page.tsx';
import { EmptyState, FailedState, QueryView, Skeleton } from '../ui/states.tsx';
import { Status } from '../ui/status.tsx';
import { CloudDialog } from './cloud-dialog.tsx';
import {
  type CloudFilter,
  filterClouds,
  filterOf,
  isFiltered,
  type Light,
  lights,
  listPath,
  pathOf,
} from './cloud-filter.ts';
import { CloudGrid } from './cloud-grid.tsx';
import s from './cloud-status.module.css';
import { kinds } from './cloud-words.ts';
import { readOverviewAhead, refreshClouds, useCloudList, useMailTrouble } from './clouds.ts';
import { DeleteDialog } from './delete-dialog.tsx';
import { texts } from './texts.ts';
import { Transitions } from './transitions.tsx';

type OpenDialog = { kind: 'edit' | 'delete'; cloud: CloudInstance };

// The script loads when the pointer reaches a link to the page: the first clouds arrive before the click.
if (hasModule('cloud-status')) void readOverviewAhead();

/**
 * The clouds, the worst first. The address has the filters (`?light=`, `?search=`, `?mine=`), may show the history instead
 * (`?view=history`), and may open the form for a new cloud (`?new=1`).
 */
export function CloudsPage() {
  const t = texts.value;
  const { query: params, route: go } = useLocation();
  const filter = filterOf(params);
  const manages = useManages('cloud-status') ?? false;
  const [dialog, setDialog] = useState<OpenDialog | null>(null);
  const checkAll = useCheckAll();
  const isHistory = params['view'] === 'history';
  const close = () => setDialog(null);
  const open = () => go(addressOf(listPath, { new: '1' }));

  if (isHistory) {
    return (
      <Page title={pageNames.value.cloudStatus} intro={t.historyIntro} actions={<ToList />}>
        <Section title={t.history}>
          <Transitions />
        </Section>
      </Page>
    );
  }
  return (
    <Page
      title={pageNames.value.cloudStatus}
      intro={t.intro}
      actions={
        <>
          {manages && (
            <>
              <Button kind="primary" icon={Plus} onClick={open}>
                {t.add}
              </Button>
              <Button icon={ListChecks} busy={checkAll.isPending} onClick={() => checkAll.mutate()}>
                {t.checkAll}
              </Button>
            </>
          )}
          <LinkButton href={`${listPath}?view=history`} icon={History}>
            {t.history}
          </LinkButton>
        </>
      }
    >
      <CheckOfAll checkAll={checkAll} />
      <Clouds
        filter={filter}
        manages={manages}
        onFilter={(next) => go(pathOf(next), true)}
        onAdd={open}
        onOpen={setDialog}
      />
      {params['new'] !== undefined && manages && <CloudDialog onClose={() => go(pathOf(filter), true)} />}
      {dialog?.kind === 'edit' && <CloudDialog cloud={dialog.cloud} onClose={close} />}
      {dialog?.kind === 'delete' && <DeleteDialog cloud={dialog.cloud} onClose={close} />}
    </Page>
  );
}

const ToList = () => (
  <LinkButton href={listPath} icon={Cloud}>
    {texts.value.allClouds}
  </LinkButton>
);

const useCheckAll = () =>
  useMutation({
    mutationFn: async () => {
      const started = await portal.post('/cloud-status/check');
      // Only a call that waits is answered with the list.
      return 'runId' in started ? started.runId : null;
    },
  });

function CheckOfAll({ checkAll }: { checkAll: ReturnType<typeof useCheckAll> }) {
  const t = texts.value;
  const { data: runId, error, mutate, reset } = checkAll;
  if (!runId && !error) return null;
  return (
    <Card title={t.checkAllTitle} actions={<IconButton icon={X} label={t.hide} onClick={reset} />}>
      {runId && <RunProgress runId={runId} onEnd={() => void refreshClouds()} />}
      {error && <FailedState error={error} onRetry={() => mutate()} />}
    </Card>
  );
}

/** How far from the end of the first clouds all of them are read. */
const aheadPx = 400;

interface CloudsProps {
  filter: CloudFilter;
  manages: boolean;
  onFilter: (filter: CloudFilter) => void;
  onAdd: () => void;
  onOpen: (dialog: OpenDialog) => void;
}

function Clouds({ filter, manages, onFilter, onAdd, onOpen }: CloudsProps) {
  const t = texts.value;
  const [isNearEnd, setNearEnd] = useState(false);
  const { overview, all } = useCloudList(isNearEnd || isFiltered(filter));
  const address = pathOf(filter);
  const found = useMemo(() => all.data && filterClouds(all.data, filter), [all.data, address]);
  const counts = useMemo(() => (all.data ? countsOf(all.data) : overview.data), [all.data, overview.data]);
  // Filters go through all.
  const shown = found ?? (isFiltered(filter) ? undefined : overview.data?.instances);
  const total = counts ? lights.reduce((sum, light) => sum + counts.counts[light], 0) : 0;
  const manage = useMemo(
    () =>
      manages
        ? {
            onEdit: (cloud: CloudInstance) => onOpen({ kind: 'edit', cloud }),
            onDelete: (cloud: CloudInstance) => onOpen({ kind: 'delete', cloud }),
          }
        : undefined,
    [manages],
  );
  const none = (
    <EmptyState
      icon={Cloud}
      title={t.none}
      action={
        manages && (
          <Button icon={Plus} onClick={onAdd}>
            {t.add}
          </Button>
        )
      }
    >
      {manages ? t.noneManage : t.noneUse}
    </EmptyState>
  );
  return (
    <QueryView<unknown> query={all.data ? all : overview} empty={() => total === 0} emptyState={none}>
      {() => (
        <>
          {counts && <Filters counts={counts} filter={filter} onFilter={onFilter} />}
          {shown && (
            <p class={s.muted} role="status">
              {t.shown(found?.length ?? total, total)}
            </p>
          )}
          {shown?.length === 0 && isFiltered(filter) ? (
            <EmptyState
              icon={Cloud}
              title={t.noneFound}
              action={<LinkButton href={listPath}>{t.showAll}</LinkButton>}
            />
          ) : (
            shown && <CloudGrid clouds={shown} total={found?.length ?? total} manage={manage} />
          )}
          {!all.data &&
            (all.error ? (
              <FailedState error={all.error} onRetry={() => void all.refetch()} />
            ) : (
              (shown?.length ?? 0) < total && (
                <Near px={aheadPx} onNear={() => setNearEnd(true)}>
                  <Skeleton />
                </Near>
              )
            ))}
        </>
      )}
    </QueryView>
  );
}

function countsOf(clouds: readonly CloudInstance[]): Counts {
  const counts = { red: 0, yellow: 0, grey: 0, green: 0 };
  let subscribed = 0;
  for (const cloud of clouds) {
    counts[cloud.light] += 1;
    if (cloud.subscribed) subscribed += 1;
  }
  return { counts, subscribed };
}

type Counts = Pick<CloudOverview, 'counts' | 'subscribed'>;

interface FiltersProps {
  counts: Counts;
  filter: CloudFilter;
  onFilter: (filter: CloudFilter) => void;
}

function Filters({ counts: { counts, subscribed: mine }, filter, onFilter }: FiltersProps) {
  const t = texts.value;
  const trouble = useMailTrouble(mine > 0);
  const toggle = (light: Light) => {
    const isOn = filter.lights.includes(light);
    onFilter({ ...filter, lights: isOn ? filter.lights.filter((one) => one !== light) : [...filter.lights, light] });
  };
  return (
    <div role="search" aria-label={t.filters}>
      <TextField
        label={t.search}
        name="search"
        type="search"
        placeholder={t.searchHint}
        maxLength={200}
        value={filter.search}
        onInput={(search) => onFilter({ ...filter, search })}
      />
      <div class={s.row} role="group" aria-label={t.lights} style={{ marginBlockStart: 'var(--s3)' }}>
        {lights.map((light) => (
          <Chip
            key={light}
            light={light}
            count={counts[light]}
            isOn={filter.lights.includes(light)}
            onToggle={() => toggle(light)}
          />
        ))}
        {(mine > 0 || filter.isMine) && (
          <Button
            icon={BellRing}
            aria-pressed={filter.isMine}
            onClick={() => onFilter({ ...filter, isMine: !filter.isMine })}
          >
            {t.mine(mine)}
          </Button>
        )}
      </div>
      {trouble && <Status kind="warning">{t.noMails[trouble]}</Status>}
    </div>
  );
}

interface ChipProps {
  light: Light;
  count: number;
  isOn: boolean;
  onToggle: () => void;
}

/** How many clouds have a light; pressed, the list shows them. */
function Chip({ light, count, isOn, onToggle }: ChipProps) {
  if (count === 0 && !isOn) return null;
  return (
    <Button aria-pressed={isOn} onClick={onToggle}>
      <Status kind={kinds[light]}>{statusTexts.value.lightCounts[light](count)}</Status>
    </Button>
  );
}
