import type { Tender } from '@portal/client/interface';
import { dayAt, daysBetween } from '../../berlin-time.ts';
import { useMutation } from '../../mutation.ts';
import { usePolled } from '../../polling.ts';
import { portal, queryClient } from '../../portal.ts';
import { Badge } from '../../ui/badge.tsx';
import { Status } from '../../ui/status.tsx';
import { Time } from '../../ui/time.tsx';
import { readTenderRadar } from './configs.ts';
import { texts } from './feed-texts.ts';
import { savedSearchesQuery } from './saved-searches-query.ts';
import css from './tender-radar.module.css';
import type { TileProps } from './tile-props.ts';
import { TileBody, TileView } from './tile-view.tsx';
import tile from './tile.module.css';
import { useNow } from './use-now.ts';
import { safeHref } from './web-links.ts';

const intervalMs = 60_000;

/** The newest tenders of a saved search, or of all open calls. */
export function TenderRadarTile({ config }: TileProps) {
  const t = texts.value;
  const { savedSearchId, limit } = readTenderRadar(config);
  const now = useNow(60_000);
  const query = { limit, ...(savedSearchId && { savedSearchId }) };
  const tenders = usePolled({
    queryKey: ['tenders', 'newest', query],
    queryFn: ({ signal }) => portal.get('/tenders', { params: { query }, signal }),
    intervalMs,
  });
  return (
    <TileBody label={t.tenders}>
      {savedSearchId && <SearchName id={savedSearchId} />}
      <TileView query={tenders} empty={savedSearchId ? t.noMatches : t.noTenders}>
        {(rows) => (
          <ul class={tile.list}>
            {rows.map((tender) => (
              <Row key={tender.id} tender={tender} now={now} />
            ))}
          </ul>
        )}
      </TileView>
    </TileBody>
  );
}

/** Tells several tiles apart. A tile without it still has its tenders, so a failure is not shown. */
function SearchName({ id }: { id: string }) {
  const { data } = usePolled({ ...savedSearchesQuery, intervalMs });
  const search = data?.find((one) => one.id === id);
  if (!search) return null;
  return (
    <p class={tile.muted}>
      <span dir="auto">{search.name}</span>
      {search.newCount > 0 && ` · ${texts.value.unread(search.newCount)}`}
    </p>
  );
}

function Row({ tender, now }: { tender: Tender; now: number }) {
  const t = texts.value;
  const { id, title, buyerName, buyerCity, sourceUrl, isCancelled, triage } = tender;
  const href = safeHref(sourceUrl);
  const read = useMutation({
    mutationFn: () => portal.put('/tenders/{id}/triage', { params: { path: { id } }, body: { read: true } }),
    onSuccess: () => queryClient.invalidateQueries({ queryKey: ['tenders'] }),
  });
  const markRead = () => {
    if (!triage.read) read.mutate();
  };
  return (
    <li class={`${tile.row} ${css.tender}`}>
      <div class={tile.main}>
        <span>
          {!triage.read && <Badge kind="accent">{t.isNew}</Badge>} {isCancelled && <Badge>{t.isCancelled}</Badge>}{' '}
          {href === undefined ? (
            <span dir="auto">{title}</span>
          ) : (
            <a
              href={href}
              target="_blank"
              rel="noopener noreferrer"
              dir="auto"
              onClick={markRead}
              onAuxClick={({ button }) => button === 1 && markRead()}
            >
              {title}
            </a>
          )}
        </span>
        <span class={tile.muted} dir="auto">
          {[buyerName, buyerCity].filter(Boolean).join(', ') || t.unknownBuyer}
        </span>
      </div>
      <Deadline tender={tender} now={now} />
    </li>
  );
}

/** Days before a deadline from which it is urgent. */
const urgentDays = 3;

function Deadline({ tender: { deadlineAt, deadlineIsDateOnly }, now }: { tender: Tender; now: number }) {
  const t = texts.value;
  if (deadlineAt === null) return <span class={css.deadline}>{t.noDeadline}</span>;
  const left = daysBetween(dayAt(now), dayAt(deadlineAt));
  const isOver = Date.parse(deadlineAt) < now;
  const words = isOver ? t.isOver : t.daysLeft(left);
  return (
    <span class={css.deadline}>
      {!isOver && left <= urgentDays ? <Status kind="warning">{words}</Status> : words}
      <span class={tile.muted}>
        <Time value={deadlineAt} style={deadlineIsDateOnly ? 'date' : 'datetime'} />
      </span>
    </span>
  );
}
