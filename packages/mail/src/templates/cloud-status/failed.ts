import { z } from 'zod';
import { FailureClass } from '@portal/domain/failure-class';
import { type Block, p, rows } from '../../blocks.ts';
import { Sender } from '../../frame.ts';
import { template } from '../../template.ts';
import { inThread } from '../../thread.ts';

const Outage = z.object({
  customerName: z.string(),
  address: z.string(),
  failure: FailureClass,
  /** Already in Berlin time. */
  since: z.string(),
});
type Outage = z.output<typeof Outage>;

const causes: Record<FailureClass, string> = {
  zugang: 'Die Statusseite verlangt eine Anmeldung.',
  rechte: 'Der Zugriff auf die Statusseite wird verweigert.',
  antwortform: 'Unter der Adresse antwortet etwas anderes als die Cloud.',
  server: 'Der Server der Cloud meldet einen Fehler.',
  netz: 'Die Cloud ist nicht zu erreichen.',
  zertifikat: 'Das Zertifikat der Cloud ist ungültig.',
};

/** Mail programs cut off longer mails. */
const maxListed = 200;

const factsOf = ({ customerName, address, failure, since }: Outage): Block =>
  rows({ Kunde: customerName, Adresse: address, Seit: since, Ursache: causes[failure] });

const one = ([outage]: Outage[]): Block[] =>
  outage
    ? [
        p`die Cloud von ${outage.customerName} ist gestört. Zwei Prüfungen hintereinander sind fehlgeschlagen.`,
        factsOf(outage),
      ]
    : [];

const many = (outages: Outage[]): Block[] => [
  p`${outages.length} Clouds sind nicht mehr zu erreichen. Da so viele gleichzeitig betroffen sind, kann auch die Verbindung dorthin die Ursache sein.`,
  ...outages
    .slice(0, maxListed)
    .map(({ customerName, address, since }) => rows({ Kunde: customerName, Adresse: address, Seit: since })),
  ...(outages.length > maxListed ? [p`Und ${outages.length - maxListed} weitere; das Portal zeigt alle.`] : []),
];

const isOne = (outages: Outage[]): boolean => outages.length === 1;

/** Reports one outage, or all that began together. */
export const cloudFailed = template({
  format: 'html-and-text',
  data: Sender.extend({ displayName: z.string(), thread: z.string(), outages: z.array(Outage).min(1) }),
  headers: inThread,
  wording: {
    de: {
      subject: ({ outages }) =>
        isOne(outages)
          ? `Cloud gestört: ${outages[0]?.customerName ?? ''}`
          : `${outages.length} Clouds nicht zu erreichen`,
      preview: ({ outages }) =>
        outages
          .map(({ customerName }) => customerName)
          .slice(0, 10)
          .join(', '),
      heading: ({ outages }) => (isOne(outages) ? 'Eine Cloud ist gestört' : 'Viele Clouds sind nicht zu erreichen'),
      body: ({ displayName, outages }) => [
        p`Hallo ${displayName},`,
        ...(isOne(outages) ? one(outages) : many(outages)),
        p`Sobald die Störung behoben ist, erhalten Sie eine weitere Nachricht.`,
      ],
    },
  },
});
