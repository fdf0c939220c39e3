import { signal, useComputed } from '@preact/signals';
import { Mail, MailOpen, Star } from 'lucide';
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import type { Tender } from '@portal/client/interface';
import { texts as feedTexts } from '../dashboards/widgets/feed-texts.ts';
import { useNow } from '../dashboards/widgets/use-now.ts';
import { Badge } from '../ui/badge.tsx';
import { IconButton } from '../ui/button.tsx';
import { Kbd, KeyHint } from '../ui/kbd.tsx';
import { Near } from '../ui/near.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { Time } from '../ui/time.tsx';
import { VisuallyHidden } from '../ui/visually-hidden.tsx';
import { DeadlineLeft } from './deadline-left.tsx';
import { nameIn, names } from './names.ts';
import { openedFrom } from './opened-from.ts';
import { markTenders } from './queries.ts';
import s from './tenders.module.css';
import { formatMoney, texts } from './texts.ts';

interface ResultsProps {
  tenders: readonly Tender[];
  /** The address of the list, to which people come back. */
  address: string;
  sourceName: (key: string) => string;
  hasMore: boolean;
  isLoading: boolean;
  hasFailed: boolean;
  total: number | null;
  onMore: () => void;
}

/** The result that the Tab key reaches; arrow keys move it. */
const current = signal<string | null>(null);
/** What a key has just done, for screen readers. */
const spoken = signal('');

/** The tenders found. One of them takes the focus; keys that act on it work only there. */
export function ResultTable(props: ResultsProps) {
  const { tenders, address, sourceName, hasMore, isLoading, hasFailed, total, onMore } = props;
  const t = texts.value;
  const list = useRef<HTMLDivElement>(null);
  const now = useNow(60_000);
  const columns = useMemo(() => columnsOf(sourceName, now), [sourceName, now, t]);

  useLayoutEffect(() => {
    const [first] = tenders;
    if (!tenders.some(({ id }) => id === current.value)) current.value = first?.id ?? null;
  }, [tenders]);

  // A person who comes back from a tender stands where they left.
  useEffect(() => {
    const { last } = openedFrom;
    const at = tenders.findIndex(({ id }) => id === last);
    if (openedFrom.address === address && at !== -1 && list.current) {
      // After the frame has given the focus to the page
      const target = list.current;
      setTimeout(() => void focusResult(target, tenders, at));
    }
    openedFrom.last = null;
  }, []);
  useEffect(() => {
    openedFrom.address = address;
    openedFrom.ids = tenders.map(({ id }) => id);
  }, [address, tenders]);

  const onKeyDown = (event: KeyboardEvent) => {
    const { target, currentTarget } = event;
    if (!(target instanceof HTMLElement) || !(currentTarget instanceof HTMLElement)) return;
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    const at = tenders.findIndex(({ id }) => id === target.dataset['result']);
    const tender = tenders[at];
    if (!tender) return;
    const { id, triage } = tender;
    const next = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: tenders.length - 1 }[event.key];
    if (next !== undefined) void focusResult(currentTarget, tenders, next);
    else if (event.key === 'f' || event.key === 'F') setFavorite(id, !triage.favorite);
    else if (event.key === 'u' || event.key === 'U') setRead(id, !triage.read);
    else return;
    event.preventDefault();
  };

  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- the keys act on the link that has the focus
    <div
      ref={list}
      role="group"
      aria-label={t.list}
      onKeyDown={onKeyDown}
      onFocusIn={({ target }) => {
        const row = target instanceof Element ? target.closest('tr') : null;
        const link = row?.querySelector<HTMLElement>('[data-result]');
        if (link) current.value = link.dataset['result'] ?? null;
      }}
    >
      <Table
        caption={t.list}
        columns={columns}
        rows={tenders}
        rowKey={idOf}
        empty={null}
        paging={{ hasMore, isLoading, onMore, total }}
      />
      {/* The next page is read before a person gets there. A failed one waits for the button. */}
      {hasMore && !hasFailed && <Near key={tenders.length} px={aheadPx} onNear={onMore} />}
      {hasFailed && <p role="alert">{t.moreFailed}</p>}
      <VisuallyHidden>
        <span role="status">{spoken.value}</span>
      </VisuallyHidden>
    </div>
  );
}

const idOf = ({ id }: Tender): string => id;

/** How far from the end of the list the next page is read. */
const aheadPx = 2_000;

/** The keys that act on the result with the focus. */
export function ResultKeys() {
  const t = texts.value;
  return (
    <p class={`${s.row} ${s.muted}`}>
      <KeyHint>
        <VisuallyHidden>{t.keys}: </VisuallyHidden>
        <Kbd>↑</Kbd> <Kbd>↓</Kbd> {t.keyMove}
      </KeyHint>
      <KeyHint>
        <Kbd>Enter</Kbd> {t.keyOpen}
      </KeyHint>
      <KeyHint>
        <Kbd>U</Kbd> {t.keyUnread}
      </KeyHint>
      <KeyHint>
        <Kbd>F</Kbd> {t.keyFavorite}
      </KeyHint>
    </p>
  );
}

function setFavorite(id: string, favorite: boolean): void {
  spoken.value = favorite ? texts.value.nowFavorite : texts.value.noFavorite;
  void markTenders([id], { favorite });
}

function setRead(id: string, read: boolean): void {
  spoken.value = read ? texts.value.nowRead : texts.value.nowUnread;
  void markTenders([id], { read });
}

/** Frames to wait until rows far from the window are drawn. */
const mostFrames = 30;

/** Gives the focus to a result, also if its row is not drawn yet. */
async function focusResult(list: HTMLElement, tenders: readonly Tender[], at: number): Promise<void> {
  const id = tenders[at]?.id;
  if (id === undefined) return;
  for (let frame = 0; frame < mostFrames; frame += 1) {
    const link = list.querySelector<HTMLElement>(`[data-result="${CSS.escape(id)}"]`);
    if (link) {
      link.focus({ preventScroll: true });
      link.closest('tr')?.scrollIntoView({ block: 'nearest' });
      return;
    }
    blockNear(list, tenders, at)?.scrollIntoView({ block: 'center' });
    await new Promise(requestAnimationFrame);
  }
}

/** The undrawn part of the table that begins after the last drawn row before the wanted one. */
function blockNear(list: HTMLElement, tenders: readonly Tender[], at: number): Element | null {
  const blocks = [...list.querySelectorAll('tbody')];
  const place = new Map(tenders.map(({ id }, index) => [id, index]));
  const firstOf = (block: Element) => {
    const link = block.querySelector<HTMLElement>('[data-result]');
    return link ? (place.get(link.dataset['result'] ?? '') ?? -1) : -1;
  };
  // Blocks are equally long, except for the last.
  const known = blocks.findIndex((block) => firstOf(block) > 0);
  const length = known > 0 && blocks[known] ? firstOf(blocks[known]) / known : tenders.length / blocks.length;
  return blocks[Math.min(Math.floor(at / length), blocks.length - 1)] ?? null;
}

function columnsOf(sourceName: (key: string) => string, now: number): Column<Tender>[] {
  const t = texts.value;
  return [
    { key: 'title', label: t.title, width: '27%', cell: (tender) => <Title tender={tender} /> },
    { key: 'deadline', label: t.deadline, width: '16%', cell: (tender) => <DeadlineLeft tender={tender} now={now} /> },
    { key: 'place', label: t.place, width: '16%', cell: placeOf },
    {
      key: 'published',
      label: t.published,
      width: '19%',
      cell: ({ publishedAt, sourcePortal }) => (
        <>
          <Time value={publishedAt} style="date" />
          <br />
          <span class={s.muted}>{sourceName(sourcePortal)}</span>
        </>
      ),
    },
    {
      key: 'value',
      label: t.value,
      width: '14%',
      align: 'end',
      cell: ({ valueCents, currency }) => (
        <span style={{ whiteSpace: 'nowrap' }}>{formatMoney(valueCents, currency) ?? t.notGiven}</span>
      ),
    },
    { key: 'marks', label: t.marks, width: '96px', cell: (tender) => <Marks tender={tender} /> },
  ];
}

/** The town, or the federal states, or the whole country. */
function placeOf({ isNationwide, bundeslaender, buyerCity }: Tender): string {
  const t = texts.value;
  const { laender } = names.value;
  if (isNationwide) return t.nationwide;
  return (
    [...new Set([buyerCity, ...bundeslaender.map((key) => nameIn(laender, key))])].filter(Boolean).join(', ') ||
    t.notGiven
  );
}

const useIsCurrent = (id: string) => useComputed(() => (current.value === id ? 0 : -1)).value;

function Title({ tender: { id, title, buyerName, isCancelled, triage } }: { tender: Tender }) {
  const t = feedTexts.value;
  const tabIndex = useIsCurrent(id);
  return (
    <>
      {!triage.read && <Badge kind="accent">{texts.value.isUnread}</Badge>}{' '}
      {isCancelled && <Badge kind="error">{t.isCancelled}</Badge>}{' '}
      <a href={`/app/tenders/${id}`} data-result={id} tabIndex={tabIndex} aria-keyshortcuts="F U" dir="auto">
        {triage.read ? title : <strong>{title}</strong>}
      </a>
      <br />
      <span class={s.muted} dir="auto">
        {buyerName ?? t.unknownBuyer}
      </span>
    </>
  );
}

function Marks({ tender: { id, title, triage } }: { tender: Tender }) {
  const t = texts.value;
  const tabIndex = useIsCurrent(id);
  return (
    <>
      <IconButton
        icon={Star}
        label={t.addFavorite(title)}
        pressed={triage.favorite}
        tabIndex={tabIndex}
        onClick={() => setFavorite(id, !triage.favorite)}
      />
      <IconButton
        icon={triage.read ? MailOpen : Mail}
        label={t.markUnread(title)}
        pressed={triage.read}
        tabIndex={tabIndex}
        onClick={() => setRead(id, !triage.read)}
      />
    </>
  );
}
