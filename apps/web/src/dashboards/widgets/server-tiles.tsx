import { ListChecks } from 'lucide';
import { useState } from 'preact/hooks';
import type { ServerTile as Answer } from '@portal/client/interface';
import { formatBytes, formatNumber, language } from '../../language.ts';
import { lazy } from '../../lazy.tsx';
import { usePolled } from '../../polling.ts';
import { portal } from '../../portal.ts';
import { IconButton } from '../../ui/button.tsx';
import { Status } from '../../ui/status.tsx';
import { Time } from '../../ui/time.tsx';
import { readServers } from './configs.ts';
import { serverOrder, serverStatus } from './server-states.ts';
import { StateCounts } from './state-counts.tsx';
import { texts } from './status-texts.ts';
import css from './status.module.css';
import type { TileProps } from './tile-props.ts';
import { maxRows, NotShown, TileBody, TileView } from './tile-view.tsx';
import tile from './tile.module.css';
import { chosen, countStates, worstFirst } from './worst-first.ts';

const ServerFindings = lazy(() => import('./server-findings.tsx').then(({ ServerFindings }) => ServerFindings));

type Server = Answer['servers'][number];
type Fact = Server['facts'][number];

const intervalMs = 60_000;

export const VirtualizationTile = (props: TileProps) => <ServerTile {...props} kind="virtualization" />;
export const BackupTile = (props: TileProps) => <ServerTile {...props} kind="backup" />;
export const MailGatewayTile = (props: TileProps) => <ServerTile {...props} kind="mail-gateway" />;

/** The servers of one kind. All server tiles share one query. */
function ServerTile({ config, kind }: TileProps & { kind: Server['kind'] }) {
  const t = texts.value;
  const { ids, isCompact } = readServers(config);
  const [openId, setOpenId] = useState<string | null>(null);
  const status = usePolled({
    queryKey: ['virtualization', 'status'],
    queryFn: ({ signal }) => portal.get('/virtualization/status', { signal }),
    intervalMs,
  });
  const shown = ({ servers }: Answer) =>
    chosen(
      servers.filter((server) => server.kind === kind),
      ids,
    );
  return (
    <TileBody>
      <TileView query={status} isEmpty={(answer) => shown(answer).length === 0} empty={t.noServers[kind]}>
        {(answer) => {
          const servers = worstFirst(shown(answer), serverOrder, {
            state: ({ state }) => state,
            name: ({ name }) => name,
          });
          const states = servers.map(({ state }) => state);
          return (
            <>
              <StateCounts counts={countStates(states, serverOrder)} kinds={serverStatus} words={t.serverCounts} />
              <ul class={tile.list}>
                {servers.slice(0, maxRows).map((server) => (
                  <Row key={server.id} server={server} isCompact={isCompact} onOpen={() => setOpenId(server.id)} />
                ))}
              </ul>
              <NotShown count={servers.length - maxRows} />
            </>
          );
        }}
      </TileView>
      {openId !== null && <ServerFindings id={openId} onClose={() => setOpenId(null)} />}
    </TileBody>
  );
}

interface RowProps {
  server: Server;
  isCompact: boolean;
  onOpen: () => void;
}

function Row({ server, isCompact, onOpen }: RowProps) {
  const t = texts.value;
  const { name, state, failure, message, checkedAt } = server;
  return (
    <li class={tile.row}>
      <div class={tile.main}>
        <span class={css.head}>
          <Status kind={serverStatus[state]}>{t.serverStates[state]}</Status>
          <span class={css.name} dir="auto">
            {name}
          </span>
        </span>
        {!isCompact && (
          <>
            <Figures server={server} />
            {state !== 'ok' && (failure !== null || message !== null) && (
              <span>
                {failure !== null && `${t.failures[failure]} `}
                {/* Sentences of the service are English. */}
                {message !== null && (failure === null || language.value === 'en') && <span lang="en">{message}</span>}
              </span>
            )}
          </>
        )}
        <span class={tile.muted}>
          {checkedAt === null ? (
            t.neverChecked
          ) : (
            <>
              {t.checked} <Time value={checkedAt} style="relative" />
            </>
          )}
        </span>
      </div>
      <IconButton
        size="small"
        icon={ListChecks}
        label={t.findings(name)}
        onPointerEnter={() => void ServerFindings.preload()}
        onClick={onOpen}
      />
    </li>
  );
}

/** The facts that sum a server up. A server that was not reached keeps its last ones. */
function Figures({ server: { facts, checkedAt } }: { server: Server }) {
  const t = texts.value;
  const byKey = new Map(facts.map((fact) => [fact.key, fact]));
  const readAt = facts[0]?.readAt;
  const isOld = readAt !== undefined && checkedAt !== null && Date.parse(readAt) < Date.parse(checkedAt);
  const figures = headlines.flatMap(({ key, of }) => {
    const fact = byKey.get(key);
    const whole = of === undefined ? undefined : byKey.get(of);
    if (!fact) return [];
    return [{ key, value: whole ? `${valueOf(fact)}/${valueOf(whole)}` : valueOf(fact) }];
  });
  if (figures.length === 0) return null;
  return (
    <dl class={css.figures}>
      {figures.map(({ key, value }) => (
        <div key={key}>
          <dt>{t.figures[key]}</dt>
          <dd>{value}</dd>
        </div>
      ))}
      {isOld && (
        <div>
          <dt>{t.figuresOf}</dt>
          <dd>
            <Time value={readAt} style="relative" />
          </dd>
        </div>
      )}
    </dl>
  );
}

type Figure =
  | 'nodes'
  | 'guestsRunning'
  | 'memory'
  | 'fullest'
  | 'groups'
  | 'mails'
  | 'deferred'
  | 'spamQuarantine'
  | 'virusQuarantine'
  | 'updates';

const headlines: { key: Figure; of?: string }[] = [
  { key: 'nodes', of: 'nodesTotal' },
  { key: 'guestsRunning', of: 'guests' },
  { key: 'memory' },
  { key: 'fullest' },
  { key: 'groups' },
  { key: 'mails' },
  { key: 'deferred' },
  { key: 'spamQuarantine' },
  { key: 'virusQuarantine' },
  { key: 'updates' },
];

function valueOf({ value, unit }: Fact): string {
  if (typeof value === 'string') return value;
  if (unit === 'bytes') return formatBytes(value);
  return unit === 'percent' ? `${formatNumber(value)} %` : formatNumber(value);
}
