import { Bell, BellRing, Pencil, RotateCw, Trash2 } from 'lucide';
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { CloudInstance } from '@portal/client/interface';
import { IconButton } from '../ui/button.tsx';
import { Menu } from '../ui/menu.tsx';
import { Card } from '../ui/page.tsx';
import { Status } from '../ui/status.tsx';
import { Time } from '../ui/time.tsx';
import { cloudPath } from './cloud-filter.ts';
import { CloudLogo } from './cloud-logo.tsx';
import s from './cloud-status.module.css';
import { failureWord, isStale, kinds, lightWord, reasonWords, versionWords } from './cloud-words.ts';
import { checkCloud, toggleSubscription, underCheck } from './clouds.ts';
import { Sentence } from './sentence.tsx';
import { SupportLine } from './support-line.tsx';
import { texts } from './texts.ts';

export interface CloudActions {
  onEdit: (cloud: CloudInstance) => void;
  onDelete: (cloud: CloudInstance) => void;
}

interface GridProps {
  clouds: readonly CloudInstance[];
  /** How many there are, of which the first may be here. */
  total: number;
  /** Undefined for people who may not manage clouds. */
  manage: CloudActions | undefined;
}

// Fills whole rows of one, two, three or four cards.
const blockSize = 12;
/** The height of a block until one was measured. */
const usualBlockPx = 900;

/** Cards of clouds. Of many, only those near the window are drawn. */
export function CloudGrid({ clouds, total, manage }: GridProps) {
  const [blockPx, setBlockPx] = useState(usualBlockPx);
  // A person sees the first cards before anything is done for the others.
  const [isBegun, setBegun] = useState(false);
  useEffect(() => setBegun(true), []);
  const blocks = useMemo(
    () =>
      Array.from({ length: Math.ceil(clouds.length / blockSize) }, (_, index) =>
        clouds.slice(index * blockSize, (index + 1) * blockSize),
      ),
    [clouds],
  );
  return (
    <div>
      {(isBegun ? blocks : blocks.slice(0, 1)).map((block, index) => (
        <Block
          key={index}
          clouds={block}
          first={index * blockSize}
          total={total}
          blockPx={blockPx}
          onMeasure={setBlockPx}
          manage={manage}
        />
      ))}
      {!isBegun && <div key="rest" style={{ height: `${Math.max(blocks.length - 1, 0) * blockPx}px` }} />}
    </div>
  );
}

/** How far from the window cards are drawn. */
const nearPx = 600;
const watched = new WeakMap<Element, (entry: IntersectionObserverEntry) => void>();
const observer = new IntersectionObserver(
  (entries) => {
    for (const entry of entries) watched.get(entry.target)?.(entry);
  },
  { rootMargin: `${nearPx}px 0px` },
);

interface BlockProps extends GridProps {
  /** Place of the first card in the whole list. */
  first: number;
  blockPx: number;
  onMeasure: (px: number) => void;
}

/** Some cards. Those far from the window leave only their height. */
function Block({ clouds, first, total, blockPx, onMeasure, manage }: BlockProps) {
  const place = useRef<HTMLDivElement>(null);
  const [isNear, setNear] = useState(first === 0);
  /** The height that the cards had when they were drawn. */
  const drawnPx = useRef<number | null>(null);
  useLayoutEffect(() => {
    if (first === 0 && total > blockSize && place.current) onMeasure(place.current.offsetHeight);
  }, [total > blockSize]);
  useEffect(() => {
    const { current } = place;
    if (!current) return undefined;
    watched.set(current, ({ isIntersecting, boundingClientRect }) => {
      if (current.firstElementChild) drawnPx.current = boundingClientRect.height;
      // What has the focus must stay.
      setNear(isIntersecting || current.contains(document.activeElement));
    });
    observer.observe(current);
    return () => observer.unobserve(current);
  }, []);
  if (!isNear) {
    const height = drawnPx.current ?? (blockPx * clouds.length) / blockSize;
    return <div ref={place} style={{ height: `${height}px` }} />;
  }
  return (
    <div ref={place} style={{ height: '' }}>
      <ul class={s.grid}>
        {clouds.map((cloud, index) => (
          <li key={cloud.id} aria-setsize={total} aria-posinset={first + index + 1}>
            <CloudCard cloud={cloud} manage={manage} />
          </li>
        ))}
      </ul>
    </div>
  );
}

function CloudCard({ cloud, manage }: { cloud: CloudInstance; manage: CloudActions | undefined }) {
  const t = texts.value;
  const { id, customerName, light, lastCheckState, message, checkedAt, lastOkAt } = cloud;
  const isDown = lastCheckState === 'failed';
  return (
    <Card
      title={
        <>
          <CloudLogo cloud={cloud} />
          <a href={cloudPath(id)}>{customerName}</a>
        </>
      }
      actions={<Actions cloud={cloud} manage={manage} />}
    >
      <div>
        <div class={s.row}>
          <Status kind={kinds[light]}>{lightWord(cloud)}</Status>
          <span>{reasonWords(cloud).join(' · ')}</span>
        </div>
        {isDown && (
          <p>
            {failureWord(cloud)} {message !== null && <Sentence>{message}</Sentence>}
          </p>
        )}
        {isStale(cloud) && <Status kind="warning">{t.stale}</Status>}
      </div>
      {/* Nothing is known of it before the first check. */}
      {checkedAt !== null && (
        <>
          <p dir="auto">{versionWords(cloud)}</p>
          <SupportLine cloud={cloud} />
        </>
      )}
      <p class={`${s.row} ${s.muted}`}>
        {checkedAt !== null && (
          <span>
            {t.checked} <Time value={checkedAt} style="relative" />
          </span>
        )}
        {(isDown || checkedAt !== lastOkAt) && (
          <span>
            {t.lastOk}: {lastOkAt === null ? t.never : <Time value={lastOkAt} />}
          </span>
        )}
      </p>
    </Card>
  );
}

function Actions({ cloud, manage }: { cloud: CloudInstance; manage: CloudActions | undefined }) {
  const t = texts.value;
  const { id, customerName, subscribed } = cloud;
  return (
    <>
      <IconButton
        icon={subscribed ? BellRing : Bell}
        label={t.subscribeOf(customerName)}
        pressed={subscribed}
        onClick={() => toggleSubscription(cloud)}
      />
      <IconButton
        icon={RotateCw}
        label={t.checkOf(customerName)}
        busy={underCheck.value.has(id)}
        onClick={() => void checkCloud(cloud)}
      />
      {manage && (
        <Menu
          label={t.actionsOf(customerName)}
          items={[
            { label: t.edit, icon: Pencil, onSelect: () => manage.onEdit(cloud) },
            { label: t.delete, icon: Trash2, danger: true, onSelect: () => manage.onDelete(cloud) },
          ]}
        />
      )}
    </>
  );
}
