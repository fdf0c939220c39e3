import { Plus, Server as ServerIcon } from 'lucide';
import { useLocation } from 'preact-iso/router';
import { useMemo } from 'preact/hooks';
import { serverStatus } from '../dashboards/widgets/server-states.ts';
import { texts as statusTexts } from '../dashboards/widgets/status-texts.ts';
import tile from '../dashboards/widgets/tile.module.css';
import { lazy } from '../lazy.tsx';
import { addressOf } from '../shell/address.ts';
import { hasModule, useManages } from '../shell/modules.ts';
import { pageNames } from '../shell/page-names.ts';
import { Button, LinkButton } from '../ui/button.tsx';
import { SelectField, TextField } from '../ui/field.tsx';
import { FilterBar } from '../ui/filter-bar.tsx';
import formStyle from '../ui/form.module.css';
import { Page } from '../ui/page.tsx';
import { EmptyState, QueryView } from '../ui/states.tsx';
import { Status } from '../ui/status.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { Time } from '../ui/time.tsx';
import { PollButton, PollCard, usePoll } from './poll.tsx';
import {
  filterOf,
  filterServers,
  isFiltered,
  kinds,
  listedServers,
  type ListedServer,
  listOrder,
  listPath,
  type ListState,
  pathOf,
  type ServerFilter,
  serverPath,
} from './server-filter.ts';
import { Headline, StateMark } from './server-words.tsx';
import { readServerStatusAhead, useServers, useServerStatus } from './servers.ts';
import { texts } from './texts.ts';

const ServerDialog = lazy(() => import('./server-dialog.tsx').then(({ ServerDialog }) => ServerDialog));

// The script loads when the pointer reaches a link to the page: the servers arrive before the click.
if (hasModule('virtualization')) void readServerStatusAhead();

/** The monitored servers, the most urgent first. The address has the filters, and may open the form for a new server (`?new=1`). */
export function ServersPage() {
  const t = texts.value;
  const { query: params, route: go } = useLocation();
  const filter = filterOf(params);
  const manages = useManages('virtualization') ?? false;
  const poll = usePoll();
  const open = () => go(addressOf(listPath, { new: '1' }));
  return (
    <Page
      title={pageNames.value.virtualization}
      intro={t.intro}
      actions={
        <>
          {manages && (
            <Button kind="primary" icon={Plus} onPointerEnter={() => void ServerDialog.preload()} onClick={open}>
              {t.add}
            </Button>
          )}
          <PollButton poll={poll} />
        </>
      }
    >
      <PollCard poll={poll} />
      <Servers filter={filter} manages={manages} onFilter={(next) => go(pathOf(next), true)} onAdd={open} />
      {params['new'] !== undefined && manages && <ServerDialog onClose={() => go(pathOf(filter), true)} />}
    </Page>
  );
}

interface ServersProps {
  filter: ServerFilter;
  manages: boolean;
  onFilter: (filter: ServerFilter) => void;
  onAdd: () => void;
}

function Servers({ filter, manages, onFilter, onAdd }: ServersProps) {
  const t = texts.value;
  const status = useServerStatus();
  const active = status.data?.servers;
  // Far larger, and needed only for what comes after the first sight: servers that are switched off, addresses, German words.
  const all = useServers(active !== undefined).data;
  const servers = useMemo(() => listedServers(active ?? [], all), [active, all]);
  const address = pathOf(filter);
  const shown = useMemo(() => filterServers(servers, filter), [servers, address]);
  return (
    <QueryView query={status}>
      {() =>
        servers.length === 0 ? (
          all && (
            <EmptyState
              icon={ServerIcon}
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
          )
        ) : (
          <>
            <Filters servers={servers} filter={filter} onFilter={onFilter} />
            <p class={tile.muted} role="status">
              {t.shown(shown.length, servers.length)}
            </p>
            <Table
              caption={pageNames.value.virtualization}
              columns={columns()}
              rows={shown}
              rowKey={({ id }) => id}
              empty={
                isFiltered(filter) && (
                  <EmptyState
                    icon={ServerIcon}
                    title={t.noneFound}
                    action={<LinkButton href={listPath}>{t.showAll}</LinkButton>}
                  />
                )
              }
            />
          </>
        )
      }
    </QueryView>
  );
}

function columns(): Column<ListedServer>[] {
  const t = texts.value;
  return [
    {
      key: 'name',
      label: t.server,
      width: '22%',
      cell: ({ id, name }) => <a href={serverPath(id)}>{name}</a>,
    },
    { key: 'state', label: t.state, width: '13%', cell: ({ shown }) => <StateMark state={shown} /> },
    { key: 'kind', label: t.kind, width: '14%', cell: ({ kind }) => t.kinds[kind] },
    { key: 'headline', label: t.headline, width: '37%', cell: (server) => <Headline server={server} /> },
    {
      key: 'read',
      label: t.read,
      width: '14%',
      cell: ({ checkedAt }) => (checkedAt === null ? t.never : <Time value={checkedAt} style="relative" />),
    },
  ];
}

interface FiltersProps {
  servers: readonly ListedServer[];
  filter: ServerFilter;
  onFilter: (filter: ServerFilter) => void;
}

function Filters({ servers, filter, onFilter }: FiltersProps) {
  const t = texts.value;
  const ofKind = filter.kind === '' ? servers : servers.filter(({ kind }) => kind === filter.kind);
  const toggle = (state: ListState) => {
    const isOn = filter.states.includes(state);
    const states = isOn ? filter.states.filter((one) => one !== state) : [...filter.states, state];
    onFilter({ ...filter, states: listOrder.filter((one) => states.includes(one)) });
  };
  return (
    <>
      <FilterBar label={t.filters}>
        <TextField
          label={t.search}
          name="search"
          type="search"
          placeholder={t.searchHint}
          maxLength={200}
          value={filter.search}
          onInput={(search) => onFilter({ ...filter, search })}
        />
        <SelectField
          label={t.kind}
          name="kind"
          value={filter.kind}
          onChange={(value) => onFilter({ ...filter, kind: kinds.find((kind) => kind === value) ?? '' })}
          options={[{ value: '', label: t.allKinds }, ...kinds.map((kind) => ({ value: kind, label: t.kinds[kind] }))]}
        />
      </FilterBar>
      <div class={formStyle.actions} role="group" aria-label={t.states}>
        {listOrder.map((state) => {
          const count = ofKind.filter(({ shown }) => shown === state).length;
          const isOn = filter.states.includes(state);
          if (count === 0 && !isOn) return null;
          return (
            <Button key={state} aria-pressed={isOn} onClick={() => toggle(state)}>
              {state === 'off' ? (
                <Status kind="info">{t.offCount(count)}</Status>
              ) : (
                <Status kind={serverStatus[state]}>{statusTexts.value.serverCounts[state](count)}</Status>
              )}
            </Button>
          );
        })}
      </div>
    </>
  );
}
