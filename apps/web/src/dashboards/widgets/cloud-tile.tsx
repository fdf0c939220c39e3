import type { CloudInstance } from '@portal/client/interface';
import { language } from '../../language.ts';
import { usePolled } from '../../polling.ts';
import { Status } from '../../ui/status.tsx';
import { Time } from '../../ui/time.tsx';
import { type CloudReason, reasonsOf } from './cloud-reasons.ts';
import { cloudsQuery } from './clouds-query.ts';
import { readClouds } from './configs.ts';
import { StateCounts } from './state-counts.tsx';
import { texts } from './status-texts.ts';
import css from './status.module.css';
import type { TileProps } from './tile-props.ts';
import { texts as tileTexts } from './tile-texts.ts';
import { TileBody, TileView } from './tile-view.tsx';
import tile from './tile.module.css';
import { chosen, worstFirst } from './worst-first.ts';

type Light = CloudInstance['light'];

const intervalMs = 60_000;
/** Rows that a tile draws; the worst are among them. */
const maxRows = 100;
const order: readonly Light[] = ['red', 'yellow', 'grey', 'green'];
const kinds = { red: 'error', yellow: 'warning', grey: 'unknown', green: 'ok' } as const;

export function CloudTile({ config }: TileProps) {
  const t = texts.value;
  const { ids, isCompact } = readClouds(config);
  const clouds = usePolled({ ...cloudsQuery, intervalMs });
  return (
    <TileBody label={t.clouds}>
      <TileView query={clouds} isEmpty={(all) => chosen(all, ids).length === 0} empty={t.noClouds}>
        {(all) => {
          const rows = worstFirst(chosen(all, ids), order, {
            state: ({ light }) => light,
            name: ({ customerName }) => customerName,
          });
          return (
            <>
              <StateCounts states={rows.map(({ light }) => light)} order={order} kinds={kinds} words={t.lightCounts} />
              <ul class={tile.list}>
                {rows.slice(0, maxRows).map((cloud) => (
                  <Row key={cloud.id} cloud={cloud} isCompact={isCompact} />
                ))}
              </ul>
              {rows.length > maxRows && <p class={tile.muted}>{tileTexts.value.notShown(rows.length - maxRows)}</p>}
            </>
          );
        }}
      </TileView>
    </TileBody>
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
