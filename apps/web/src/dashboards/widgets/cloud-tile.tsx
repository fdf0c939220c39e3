import type { CloudInstance } from '@portal/client/interface';
import { language } from '../../language.ts';
import { usePolled } from '../../polling.ts';
import { Status } from '../../ui/status.tsx';
import { Time } from '../../ui/time.tsx';
import { type CloudReason, reasonsOf } from './cloud-reasons.ts';
import { cloudOverviewQuery, cloudsQuery } from './clouds-query.ts';
import { readClouds } from './configs.ts';
import { StateCounts } from './state-counts.tsx';
import { texts } from './status-texts.ts';
import css from './status.module.css';
import type { TileProps } from './tile-props.ts';
import { maxRows, NotShown, TileBody, TileView } from './tile-view.tsx';
import tile from './tile.module.css';
import { chosen, countStates, type StateCount, worstFirst } from './worst-first.ts';

type Light = CloudInstance['light'];

const intervalMs = 60_000;
const order: readonly Light[] = ['red', 'yellow', 'grey', 'green'];
const kinds = { red: 'error', yellow: 'warning', grey: 'unknown', green: 'ok' } as const;

export function CloudTile({ config }: TileProps) {
  const { ids, isCompact } = readClouds(config);
  return (
    <TileBody label={texts.value.clouds}>
      {ids.length === 0 ? <AllClouds isCompact={isCompact} /> : <ChosenClouds ids={ids} isCompact={isCompact} />}
    </TileBody>
  );
}

function AllClouds({ isCompact }: { isCompact: boolean }) {
  const overview = usePolled({ ...cloudOverviewQuery, intervalMs });
  return (
    <TileView query={overview} isEmpty={({ instances }) => instances.length === 0} empty={texts.value.noClouds}>
      {({ counts, instances }) => {
        const states = order.map((state) => ({ state, count: counts[state] })).filter(({ count }) => count > 0);
        return <Clouds counts={states} worst={instances} isCompact={isCompact} />;
      }}
    </TileView>
  );
}

function ChosenClouds({ ids, isCompact }: { ids: readonly string[]; isCompact: boolean }) {
  const clouds = usePolled({ ...cloudsQuery, intervalMs });
  return (
    <TileView query={clouds} isEmpty={(all) => chosen(all, ids).length === 0} empty={texts.value.noClouds}>
      {(all) => {
        const rows = worstFirst(chosen(all, ids), order, {
          state: ({ light }) => light,
          name: ({ customerName }) => customerName,
        });
        const states = rows.map(({ light }) => light);
        return <Clouds counts={countStates(states, order)} worst={rows} isCompact={isCompact} />;
      }}
    </TileView>
  );
}

interface CloudsProps {
  counts: readonly StateCount<Light>[];
  worst: readonly CloudInstance[];
  isCompact: boolean;
}

function Clouds({ counts, worst, isCompact }: CloudsProps) {
  const rows = worst.slice(0, maxRows);
  return (
    <>
      <StateCounts counts={counts} kinds={kinds} words={texts.value.lightCounts} />
      <ul class={tile.list}>
        {rows.map((cloud) => (
          <Row key={cloud.id} cloud={cloud} isCompact={isCompact} />
        ))}
      </ul>
      <NotShown count={counts.reduce((sum, { count }) => sum + count, 0) - rows.length} />
    </>
  );
}

function Row({ cloud, isCompact }: { cloud: CloudInstance; isCompact: boolean }) {
  const t = texts.value;
  const { customerName, light, failure, message, version, productName, supportEndsAt, checkedAt, lastOkAt } = cloud;
  const reasons = reasonsOf(cloud);
  const isDown = reasons.includes('failed') || reasons.includes('failedOnce');
  return (
    <li class={tile.row}>
      <div class={tile.main}>
        <span class={css.head}>
          <Status kind={kinds[light]}>{t.lights[light]}</Status>
          <span class={css.name} dir="auto">
            {customerName}
          </span>
        </span>
        {(!isCompact || light !== 'green') && (
          <span>{reasons.map((reason) => wordsOf(reason, cloud)).join(' · ')}</span>
        )}
        {!isCompact && isDown && failure !== null && (
          <span>
            {t.failures[failure]} {/* The sentences of the service are English. */}
            {language.value === 'en' && message !== null && message}
          </span>
        )}
        <span class={tile.notes}>
          {isDown && lastOkAt !== null && (
            <span>
              {t.lastOk} <Time value={lastOkAt} />
            </span>
          )}
          {!isCompact && (
            <>
              {version !== null && <span>{`${productName ?? ''} ${version}`.trim()}</span>}
              {supportEndsAt !== null && (
                <span>
                  {t.supportUntil} <Time value={supportEndsAt} style="date" />
                </span>
              )}
              {checkedAt !== null && (
                <span>
                  {t.checked} <Time value={checkedAt} style="relative" />
                </span>
              )}
            </>
          )}
        </span>
      </div>
    </li>
  );
}

const wordsOf = (reason: CloudReason, { latestVersion }: CloudInstance): string =>
  reason === 'patch' && latestVersion !== null
    ? `${texts.value.reasons.patch} (${latestVersion})`
    : texts.value.reasons[reason];
