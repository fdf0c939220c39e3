import { ArrowLeft, ChevronLeft, ChevronRight, ExternalLink, FileDown, Mail, MailOpen, SearchX, Star } from 'lucide';
import type { ComponentChildren } from 'preact';
import { useLocation } from 'preact-iso/router';
import { useEffect } from 'preact/hooks';
import type { TenderDetail } from '@portal/client/interface';
import { PortalError } from '@portal/client/portal-error';
import facts from '../accounts/facts.module.css';
import { useNow } from '../dashboards/widgets/use-now.ts';
import { safeHref } from '../dashboards/widgets/web-links.ts';
import { paramsAt } from '../routes.ts';
import { pageNames } from '../shell/page-names.ts';
import { Button, LinkButton } from '../ui/button.tsx';
import { Card, Page } from '../ui/page.tsx';
import { EmptyState, QueryView } from '../ui/states.tsx';
import { Status } from '../ui/status.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { Time } from '../ui/time.tsx';
import { cpvName } from './cpv-divisions.ts';
import { DaysLeft, DeadlineLeft } from './deadline-left.tsx';
import { nameIn, names } from './names.ts';
import { openedFrom } from './opened-from.ts';
import { markTenders, useSourceNames, useTender } from './queries.ts';
import { texts } from './tender-texts.ts';
import s from './tenders.module.css';
import { formatMoney, texts as listTexts } from './texts.ts';

/** One tender with everything that its sources tell. Opening it marks it as read. */
export function TenderPage() {
  const { path } = useLocation();
  const { id = '' } = paramsAt(path);
  // Marking as unread must not be undone by the same visit.
  return <OpenTender key={id} id={id} />;
}

function OpenTender({ id }: { id: string }) {
  const t = texts.value;
  const tender = useTender(id);
  const { data, error } = tender;
  const isKnown = data !== undefined;
  useEffect(() => {
    openedFrom.last = id;
    if (data && !data.triage.read) void markTenders([id], { read: true });
  }, [isKnown]);
  const isGone = error instanceof PortalError && (error.status === 404 || error.status === 400);
  return (
    <Page
      title={data?.title ?? pageNames.value.tenders}
      actions={data && <Actions tender={data} />}
      intro={<Neighbours id={id} />}
    >
      {isGone ? (
        <EmptyState icon={SearchX} title={t.gone} action={<LinkButton href="/app/tenders">{t.toList}</LinkButton>}>
          {t.goneText}
        </EmptyState>
      ) : (
        <QueryView query={tender}>{(found) => <Details tender={found} />}</QueryView>
      )}
    </Page>
  );
}

/** The way back, and to the tenders that stand next to this one in the list. */
function Neighbours({ id }: { id: string }) {
  const t = texts.value;
  const { address, ids } = openedFrom;
  const at = ids.indexOf(id);
  const [before, after] = at === -1 ? [] : [ids[at - 1], ids[at + 1]];
  return (
    <nav class={s.row} aria-label={t.neighbours}>
      <LinkButton kind="ghost" icon={ArrowLeft} href={address ?? '/app/tenders'}>
        {t.back}
      </LinkButton>
      {before && (
        <LinkButton kind="ghost" icon={ChevronLeft} href={`/app/tenders/${before}`}>
          {t.previous}
        </LinkButton>
      )}
      {after && (
        <LinkButton kind="ghost" icon={ChevronRight} href={`/app/tenders/${after}`}>
          {t.next}
        </LinkButton>
      )}
    </nav>
  );
}

function Actions({ tender: { id, triage, sourceUrl, documentsUrl } }: { tender: TenderDetail }) {
  const t = texts.value;
  return (
    <>
      <Button
        icon={Star}
        aria-pressed={triage.favorite}
        onClick={() => void markTenders([id], { favorite: !triage.favorite })}
      >
        {t.favorite}
      </Button>
      <Button icon={triage.read ? Mail : MailOpen} onClick={() => void markTenders([id], { read: !triage.read })}>
        {triage.read ? t.markUnread : t.markRead}
      </Button>
      <WayOut address={documentsUrl} icon={FileDown} label={t.documents} />
      <WayOut address={sourceUrl} icon={ExternalLink} label={t.openSource} isMain />
    </>
  );
}

interface WayOutProps {
  address: string | null;
  icon: typeof ExternalLink;
  label: string;
  isMain?: boolean;
}

/** A link to an address that a source has given; none unless it is encrypted. */
function WayOut({ address, icon, label, isMain }: WayOutProps) {
  const href = secureHref(address);
  if (href === undefined) return null;
  return (
    <LinkButton
      icon={icon}
      kind={isMain ? 'primary' : 'secondary'}
      href={href}
      target="_blank"
      rel="noopener noreferrer"
    >
      {label}
    </LinkButton>
  );
}

const secureHref = (address: string | null): string | undefined => {
  const href = safeHref(address);
  return href?.startsWith('https:') ? href : undefined;
};

function Details({ tender }: { tender: TenderDetail }) {
  const t = texts.value;
  const now = useNow(60_000);
  const sourceName = useSourceNames([tender.sourcePortal, ...tender.alsoAt.map(({ sourcePortal }) => sourcePortal)]);
  const { laender, noticeTypes } = names.value;
  const { buyerName, buyerCity, region, noticeType, procedureType, deadlines, lots, alsoAt, description } = tender;
  const place = tender.isNationwide
    ? listTexts.value.nationwide
    : [region, ...tender.bundeslaender.map((key) => nameIn(laender, key))].filter(Boolean).join(', ');
  const insecure = [tender.sourceUrl, tender.documentsUrl].filter(
    (address) => address !== null && secureHref(address) === undefined,
  );
  const hasSeveralDeadlines = deadlines.length > 1 || deadlines.some(({ kind }) => kind !== 'tender');
  return (
    <>
      {tender.isCancelled && <Status kind="error">{t.cancelled}</Status>}
      <Card title={t.overview}>
        <dl class={facts.facts}>
          <Fact label={t.deadline}>
            <DeadlineLeft tender={tender} now={now} />
          </Fact>
          <Fact label={t.buyer}>{[buyerName, buyerCity].filter(Boolean).join(', ')}</Fact>
          <Fact label={t.place}>{place}</Fact>
          <Fact label={t.value}>{formatMoney(tender.valueCents, tender.currency)}</Fact>
          <Fact label={t.published}>
            <Time value={tender.publishedAt} style="date" />
          </Fact>
          <Fact label={t.source}>
            {sourceName(tender.sourcePortal)}
            <br />
            <span class={s.muted}>{tender.sourceNoticeId}</span>
          </Fact>
          <Fact label={t.noticeType}>{noticeType && nameIn(noticeTypes, noticeType)}</Fact>
          <Fact label={t.procedure}>{procedureType && nameIn(t.procedures, procedureType)}</Fact>
          <Fact label={t.cpv}>{codesIn(tender.cpvCodes)}</Fact>
        </dl>
        {insecure.map((address) => (
          <p key={address} class={s.muted}>
            {t.insecure} <span dir="auto">{address}</span>
          </p>
        ))}
      </Card>
      <Card title={t.description}>
        {description ? (
          <p class={s.text} dir="auto">
            {description}
          </p>
        ) : (
          <p class={s.muted}>{t.noDescription}</p>
        )}
      </Card>
      {hasSeveralDeadlines && (
        <Card title={t.deadlines}>
          <Table
            caption={t.deadlines}
            columns={deadlineColumns(now)}
            rows={deadlines.toSorted((a, b) => Date.parse(a.at) - Date.parse(b.at))}
            rowKey={({ kind, lotId, at }) => `${kind} ${lotId} ${at}`}
            empty={null}
          />
        </Card>
      )}
      {lots.length > 0 && (
        <Card title={`${t.lots} (${lots.length})`}>
          <Table caption={t.lots} columns={lotColumns()} rows={lots} rowKey={({ id }) => id} empty={null} />
        </Card>
      )}
      {alsoAt.length > 0 && (
        <Card title={t.alsoAt}>
          <Table
            caption={t.alsoAt}
            columns={otherColumns(sourceName)}
            rows={alsoAt}
            rowKey={({ sourcePortal, sourceNoticeId }) => `${sourcePortal} ${sourceNoticeId}`}
            empty={null}
          />
        </Card>
      )}
    </>
  );
}

const Fact = ({ label, children }: { label: string; children: ComponentChildren }) => (
  <div>
    <dt>{label}</dt>
    <dd dir="auto">{children || texts.value.notGiven}</dd>
  </div>
);

/** The codes, with the names of their divisions. */
function codesIn(codes: readonly string[]): string {
  const byDivision = Map.groupBy(codes, (code) => code.slice(0, 2));
  return [...byDivision].map(([division, all]) => `${all.join(', ')} (${cpvName(division)})`).join('; ');
}

const deadlineColumns = (now: number): Column<TenderDetail['deadlines'][number]>[] => {
  const t = texts.value;
  return [
    { key: 'kind', label: t.kind, cell: ({ kind }) => nameIn(t.kinds, kind) },
    { key: 'lot', label: t.lot, cell: ({ lotId }) => lotId ?? t.allLots },
    {
      key: 'at',
      label: t.deadline,
      cell: ({ at, isDateOnly }) => <Time value={at} style={isDateOnly ? 'date' : 'datetime'} />,
    },
    { key: 'left', label: '', cell: ({ at }) => <DaysLeft at={at} now={now} /> },
  ];
};

const lotColumns = (): Column<TenderDetail['lots'][number]>[] => {
  const t = texts.value;
  return [
    {
      key: 'title',
      label: t.lotTitle,
      width: '50%',
      cell: ({ id, title, description }) => (
        <>
          <strong dir="auto">{title ?? id}</strong> <span class={s.muted}>{title !== null && id}</span>
          {description && (
            <p class={s.text} dir="auto">
              {description}
            </p>
          )}
        </>
      ),
    },
    { key: 'cpv', label: t.cpv, cell: ({ cpvCodes }) => codesIn(cpvCodes) || t.notGiven },
    { key: 'place', label: t.lotPlace, cell: ({ nutsCodes }) => nutsCodes.join(', ') || t.notGiven },
    {
      key: 'value',
      label: t.value,
      align: 'end',
      cell: ({ valueCents, currency }) => formatMoney(valueCents, currency) ?? t.notGiven,
    },
  ];
};

const otherColumns = (sourceName: (key: string) => string): Column<TenderDetail['alsoAt'][number]>[] => {
  const t = texts.value;
  return [
    { key: 'source', label: t.source, cell: ({ sourcePortal }) => sourceName(sourcePortal) },
    {
      key: 'notice',
      label: t.notice,
      cell: ({ sourceUrl, sourceNoticeId }) => {
        const href = secureHref(sourceUrl);
        if (href === undefined) return sourceNoticeId;
        return (
          <a href={href} target="_blank" rel="noopener noreferrer">
            {sourceNoticeId}
          </a>
        );
      },
    },
    { key: 'published', label: t.published, cell: ({ publishedAt }) => <Time value={publishedAt} style="date" /> },
  ];
};
