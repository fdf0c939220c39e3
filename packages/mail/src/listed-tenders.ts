import { z } from 'zod';
import { type Block, button, entry, p } from './blocks.ts';
import { Sender, WebUrl } from './frame.ts';

/** A tender in a mail; times and amounts are already formatted. */
const ListedTender = z.object({
  /** The saved search that it is listed under, and others that found it too. */
  search: z.string(),
  alsoIn: z.array(z.string()),
  title: z.string(),
  buyer: z.string().nullable(),
  place: z.string().nullable(),
  deadline: z.string().nullable(),
  value: z.string().nullable(),
  reasons: z.array(z.string()),
  source: z.string(),
  url: z.string().nullable(),
});
type ListedTender = z.output<typeof ListedTender>;

const ChangedTender = z.object({
  title: z.string(),
  kind: z.enum(['cancelled', 'deadline', 'corrected']),
  deadline: z.string().nullable(),
  url: z.string().nullable(),
});
type ChangedTender = z.output<typeof ChangedTender>;

/** Data of mails about tenders. */
export const TenderMail = Sender.extend({
  displayName: z.string(),
  unsubscribeUrl: WebUrl,
  /** Number of all tenders; `tenders` holds the first of them. */
  total: z.int(),
  tenders: z.array(ListedTender),
  /** Number of all changes; `changes` holds the first of them. */
  totalChanges: z.int(),
  changes: z.array(ChangedTender),
});
type TenderMail = z.output<typeof TenderMail>;

export const countOf = (tenders: number): string =>
  tenders === 1 ? '1 neue Ausschreibung' : `${tenders} neue Ausschreibungen`;

const factsOf = (tender: ListedTender): Block =>
  entry(tender.title, {
    Auftraggeber: tender.buyer ?? '',
    Ort: tender.place ?? '',
    Frist: tender.deadline ?? 'nicht bekannt',
    Wert: tender.value ?? '',
    'Gefunden wegen': tender.reasons.join(', '),
    'Auch in': tender.alsoIn.join(', '),
    Quelle: tender.source,
    Link: tender.url ?? '',
  });

const changes: Record<ChangedTender['kind'], string> = {
  cancelled: 'aufgehoben',
  deadline: 'neue Frist',
  corrected: 'berichtigt',
};

/** The tenders, grouped by saved search, then changed tenders, then a link to all of them. */
export function tenderBlocks(mail: TenderMail): Block[] {
  const { tenders, total, changes: changed, totalChanges, serviceUrl } = mail;
  const groups = Map.groupBy(tenders, ({ search }) => search);
  return [
    ...[...groups].flatMap(([search, found]) => [p`Suche „${search}“:`, ...found.map(factsOf)]),
    ...(total > tenders.length ? [p`Und ${total - tenders.length} weitere. Alle finden Sie im Portal.`] : []),
    ...(changed.length > 0 ? [p`Geändert:`] : []),
    ...changed.map(({ title, kind, deadline, url }) =>
      entry(title, {
        Änderung: changes[kind],
        Frist: kind === 'cancelled' ? '' : (deadline ?? 'nicht bekannt'),
        Link: url ?? '',
      }),
    ),
    ...(totalChanges > changed.length
      ? [p`Und ${totalChanges - changed.length} weitere geänderte. Alle finden Sie im Portal.`]
      : []),
    ...(serviceUrl === undefined ? [] : [button(serviceUrl, 'Alle Ausschreibungen im Portal')]),
  ];
}

/** The unsubscribe link. */
export const endOfMails = (url: string): Block[] => [
  p`Wenn Sie diese E-Mails nicht mehr erhalten möchten, können Sie sie hier abbestellen:`,
  p`${url}`,
];
