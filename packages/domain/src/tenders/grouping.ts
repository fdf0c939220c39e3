import type { NoticeForm, NoticeRecord } from './notice-record.ts';
import { isSettingsSource, mailboxKey, shownSource } from './sources.ts';
import { fold } from './words.ts';

/** The keys that show whether two notices belong to the same procurement. */
export interface NoticeKeys {
  sourcePortal: string;
  noticeUuid: string | null;
  publicationNumber: string | null;
  bundId: string | null;
  procedureUuid: string | null;
  portalIds: string[];
  fingerprint: string | null;
  changedNoticeUuid: string | null;
  changedPublicationNumber: string | null;
  form: NoticeForm | null;
}

/** A stored notice and its tender. */
export interface KnownNotice extends NoticeKeys {
  tenderId: string;
  /** The only source that has listed the tender, if it is a personal one. */
  onlySource: string | null;
}

/** A notice to store; a known notice already has a tender. */
export interface FreshNotice extends NoticeKeys {
  tenderId: string | null;
  isPublic: boolean;
}

/**
 * Sources of the settings publish authentic ids. A notice of another source can join a tender, but it neither merges two tenders nor brings
 * further notices to a public tender: otherwise the author of a feed could merge any two tenders for every user.
 */
const isAuthority = ({ sourcePortal }: NoticeKeys): boolean => isSettingsSource(sourcePortal);

/** Notices of one tender: the tenders they belonged to so far (the first survives), and the indexes of the notices to store. */
export interface NoticeGroup {
  tenderIds: string[];
  fresh: number[];
}

/**
 * Assigns notices to tenders. Notice ids, and the ids of corrected notices, are exact. Portal ids and, as a last resort, fingerprints count
 * only between different sources, and only if they identify a single public tender and a single tender of each personal source. Notices of
 * two personal sources are not grouped unless a public source has listed the tender, because a user may not see both sources. Likeness
 * alone would join the lots of one buyer, which differ in little else; without it, one procurement is shown as two tenders at worst.
 */
export function groupNotices(fresh: readonly FreshNotice[], known: readonly KnownNotice[]): NoticeGroup[] {
  const groups = new Map<string, NoticeGroup>();
  const groupOf = (id: string): NoticeGroup => {
    const group = groups.get(id) ?? { tenderIds: [id], fresh: [] };
    groups.set(id, group);
    return group;
  };
  const placed: NoticeGroup[] = [];

  const unite = (one: NoticeGroup, other: NoticeGroup): NoticeGroup => {
    if (one === other) return one;
    one.tenderIds.push(...other.tenderIds);
    one.fresh.push(...other.fresh);
    for (const id of other.tenderIds) groups.set(id, one);
    for (const n of other.fresh) placed[n] = one;
    return one;
  };

  const knownBy = indexKeys(known);
  const freshBy = indexKeys<FreshNotice & { place: number }>([]);
  for (const [n, notice] of fresh.entries()) {
    const own: NoticeGroup = { tenderIds: [], fresh: [n] };
    placed[n] = own;
    if (notice.tenderId !== null) unite(groupOf(notice.tenderId), own);

    const visible = (other: KnownNotice) =>
      (notice.isPublic || other.onlySource === null || other.onlySource === notice.sourcePortal) &&
      (isAuthority(other) || other.onlySource !== null || other.sourcePortal === notice.sourcePortal);
    const tendersOf = (others: Iterable<KnownNotice>) =>
      new Set([...others].filter(visible).map(({ tenderId }) => groupOf(tenderId)));
    const exact = tendersOf(knownBy.exact(notice));
    for (const other of freshBy.exact(notice)) {
      const group = placed[other.place] ?? own;
      if (isAuthority(other) || !isAuthority(notice) || group.tenderIds.length === 0) exact.add(group);
    }
    exact.delete(placed[n] ?? own);

    const isNew = notice.tenderId === null;
    const joined = isAuthority(notice) || (isNew && exact.size === 1) ? exact : new Set<NoticeGroup>();
    if (isNew && exact.size === 0) {
      const strong = knownBy.portals(notice).filter((other) => visible(other) && mayBeSame(notice, other));
      const weak = knownBy.fingerprints(notice).filter((other) => visible(other) && hasNoOtherKey(notice, other));
      const likely = strong.length > 0 ? strong : weak;
      // Each personal source that listed it before has its own tender.
      const candidates = isAuthority(notice) ? Map.groupBy(likely, ({ onlySource }) => onlySource).values() : [likely];
      const found = [...candidates].map(tendersOf);
      if (found.every(({ size }) => size === 1))
        for (const groups of found) for (const group of groups) joined.add(group);
    }
    for (const group of joined) unite(group, placed[n] ?? own);
    freshBy.add({ ...notice, place: n });
  }
  // Users know the ids of public tenders; of two, they know the older one.
  const personal = new Set(known.flatMap(({ tenderId, onlySource }) => (onlySource === null ? [] : [tenderId])));
  const byAge = (one: string, other: string) =>
    Number(personal.has(one)) - Number(personal.has(other)) || (one < other ? -1 : 1);
  const found = new Set(placed);
  for (const group of found) group.tenderIds.sort(byAge);
  return [...found];
}

const agree = (one: string | null, other: string | null): boolean => one === null || other === null || one === other;
const isElsewhere = (one: NoticeKeys, other: NoticeKeys) => one.sourcePortal !== other.sourcePortal;

const mayBeSame = (one: NoticeKeys, other: NoticeKeys): boolean =>
  isElsewhere(one, other) && agree(one.form, other.form) && agree(one.procedureUuid, other.procedureUuid);

/** If both notices had the same kind of id, they would have matched by it. */
const hasNoOtherKey = (one: NoticeKeys, other: NoticeKeys): boolean =>
  mayBeSame(one, other) &&
  (one.noticeUuid === null || other.noticeUuid === null) &&
  (one.publicationNumber === null || other.publicationNumber === null) &&
  (one.bundId === null || other.bundId === null);

/** Notices by their keys. */
function indexKeys<Notice extends NoticeKeys>(notices: readonly Notice[]) {
  const byKey = new Map<string, Notice[]>();
  const add = (notice: Notice): void => {
    const { noticeUuid, publicationNumber, bundId, portalIds, fingerprint } = notice;
    const { changedNoticeUuid, changedPublicationNumber } = notice;
    const keys = {
      uuid: [noticeUuid],
      number: [publicationNumber],
      bund: [bundId],
      portal: portalIds,
      print: [fingerprint],
      'changed uuid': [changedNoticeUuid],
      'changed number': [changedPublicationNumber],
    };
    for (const [kind, values] of Object.entries(keys)) {
      for (const value of values) {
        if (value === null) continue;
        const key = `${kind} ${value}`;
        const existing = byKey.get(key);
        if (existing) existing.push(notice);
        else byKey.set(key, [notice]);
      }
    }
  };
  for (const notice of notices) add(notice);
  const find = (kind: string, value: string | null): Notice[] =>
    value === null ? [] : (byKey.get(`${kind} ${value}`) ?? []);
  return {
    add,
    exact: (notice: NoticeKeys) => [
      ...find('uuid', notice.noticeUuid),
      ...find('number', notice.publicationNumber),
      ...find('bund', notice.bundId),
      ...find('uuid', notice.changedNoticeUuid),
      ...find('number', notice.changedPublicationNumber),
      ...find('changed uuid', notice.noticeUuid),
      ...find('changed number', notice.publicationNumber),
    ],
    portals: (notice: NoticeKeys) => notice.portalIds.flatMap((id) => find('portal', id)),
    fingerprints: (notice: NoticeKeys) => find('print', notice.fingerprint),
  };
}

const legalForm = /\b(gmbh|mbh|ag|kg|ohg|gbr|e\.? ?v\.?|a\.? ?o\.? ?r\.?|kdoer|se|co)\b/g;

/**
 * Normalized title, buyer and day of the first deadline; null if one of them is missing. The deadline tells apart contracts that are
 * tendered every year under the same title.
 */
export function fingerprintOf({
  title,
  buyerName,
  deadlines,
}: Pick<NoticeRecord, 'title' | 'buyerName' | 'deadlines'>): string | null {
  const [first] = deadlines.map(({ at }) => at).toSorted();
  const bare = (text: string) =>
    fold(text)
      .replaceAll(/\b(vergabe-?nr|vergabenummer|az|los) ?[.:]? ?[\w./-]*\d[\w./-]*/g, ' ')
      .replaceAll(legalForm, ' ')
      .replaceAll(/[^\p{L}\p{N}]+/gu, ' ')
      .trim();
  const [subject, buyer] = [bare(title), bare(buyerName ?? '')];
  return first === undefined || subject.length < 10 || buyer === ''
    ? null
    : `${subject}|${buyer}|${first.slice(0, 10)}`;
}

/** The fields that decide which notice of a tender is the primary one. */
export interface RankedNotice {
  id: string;
  sourcePortal: string;
  isPublic: boolean;
  isWithdrawn: boolean;
  noticeUuid: string | null;
  noticeVersion: number;
  publicationNumber: string | null;
  changedNoticeUuid: string | null;
  changedPublicationNumber: string | null;
  publishedAt: Date;
}

/** Sources by the completeness of their notices. */
const order = ['oeffentlichevergabe', 'ted', 'bund', mailboxKey];
const rankOf = ({ sourcePortal }: RankedNotice): number => {
  const rank = order.indexOf(shownSource(sourcePortal));
  return rank === -1 ? order.length : rank;
};

/**
 * The primary notice of a tender, which lists show: public notices before personal ones; not corrected by another notice; not withdrawn;
 * then by the completeness of the source; then the latest.
 */
export function primaryOf<Notice extends RankedNotice>(notices: readonly Notice[]): Notice | undefined {
  const visible = notices.some(({ isPublic }) => isPublic) ? notices.filter(({ isPublic }) => isPublic) : notices;
  const isCorrected = (notice: Notice) =>
    visible.some(
      (other) =>
        other !== notice &&
        (other.noticeUuid !== null && other.noticeUuid === notice.noticeUuid
          ? other.noticeVersion > notice.noticeVersion
          : (other.changedNoticeUuid !== null && other.changedNoticeUuid === notice.noticeUuid) ||
            (other.changedPublicationNumber !== null && other.changedPublicationNumber === notice.publicationNumber)),
    );
  const current = visible.filter((notice) => !isCorrected(notice));
  const [first] = (current.length > 0 ? current : visible).toSorted(
    (a, b) =>
      Number(a.isWithdrawn) - Number(b.isWithdrawn) ||
      rankOf(a) - rankOf(b) ||
      b.publishedAt.getTime() - a.publishedAt.getTime() ||
      b.noticeVersion - a.noticeVersion ||
      (a.id < b.id ? 1 : -1),
  );
  return first;
}
