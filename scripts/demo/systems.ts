import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { alertAbout } from '@portal/testing/alert-mails';
import { bundItem, type MadeUpNotice, madeUpNotice, rssFeed, tedJson } from '@portal/testing/made-up-notices';
import { adGroup, adUser, startActiveDirectory } from '@portal/testing/servers/active-directory';
import { sendIcs, startCalendarServer } from '@portal/testing/servers/calendar-server';
import { brokenCloud, startCloudServer, statusDocument } from '@portal/testing/servers/cloud-server';
import { startDovecot, type TestDovecot } from '@portal/testing/servers/dovecot';
import { backupHost, startBackupServer } from '@portal/testing/servers/products/backup-server';
import { gateway, startMailGatewayServer } from '@portal/testing/servers/products/mail-gateway-server';
import {
  type Cluster,
  smallCluster,
  startVirtualizationServer,
} from '@portal/testing/servers/products/virtualization-server';
import { startSmtpServer } from '@portal/testing/servers/smtp-server';
import { exportEntry, startTenderSources } from '@portal/testing/servers/tender-sources';
import { fixturePath } from '@portal/testing/servers/tls';
import { serviceBinary } from '@portal/testing/services';
import { calendarFile } from './calendars.ts';
import { invoiceMails } from './invoice-mails.ts';
import { clouds as instances, domain } from './made-up.ts';
import { publishFiles } from './published-files.ts';

/** Consecutive ports from the given one on. Append a new system, so that the ports of the others do not change. */
const order = [
  'mail',
  'virtualization',
  'backup',
  'gateway',
  'clouds',
  'tenders',
  'calendar',
  'directory',
  'invoices',
  'cluster-south',
  'outpost',
  'workshop',
] as const;

export type Systems = Awaited<ReturnType<typeof startSystems>>;

/** Starts the remote systems of the demo tenant on ports of 127.0.0.1: the same servers that our tests use. */
export async function startSystems(
  firstPort: number,
  { onMail = () => {} }: { onMail?: (mail: { to: string; subject: string; text: string }) => void } = {},
) {
  const port = Object.fromEntries(order.map((name, n) => [name, firstPort + n])) as Record<
    (typeof order)[number],
    number
  >;
  const stops: (() => Promise<void>)[] = [];
  const stop = async () => void (await Promise.all(stops.splice(0).map((end) => end())));
  try {
    const smtp = await startSmtpServer({
      port: port.mail,
      onMessage: ({ envelopeTo, subject, text }) => onMail({ to: envelopeTo.join(', '), subject, text: text.trim() }),
    });
    stops.push(() => smtp.stop());
    const watched = await Promise.all([
      named('Cluster Nord', startVirtualizationServer(undefined, { port: port.virtualization })),
      named('Sicherung Rathaus', startBackupServer(fullBackupHost(), { port: port.backup })),
      named(
        'Mail-Gateway',
        startMailGatewayServer({ ...gateway(), deferred: 140, signatureAgeDays: 3 }, { port: port.gateway }),
      ),
      named('Cluster Süd', startVirtualizationServer(strainedCluster(), { port: port['cluster-south'] })),
      named('Sicherung Außenstelle', startBackupServer(undefined, { port: port.outpost })),
    ]);
    for (const { server } of watched) stops.push(() => server.switchOff());
    const clouds = await startCloudServer({ port: port.clouds });
    stops.push(() => clouds.stop());
    const tenders = await startTenderSources({ port: port.tenders });
    stops.push(() => tenders.stop());
    const announce = showNotices(tenders);
    const calendar = await startCalendarServer('localhost', { port: port.calendar });
    stops.push(() => calendar.stop());
    calendar.answer = (request, response) => {
      const { ics, etag } = calendarFile(request.path);
      sendIcs(request, response, ics, etag);
    };
    const directory = await startActiveDirectory({ port: port.directory, objects: people(), makeGuid });
    stops.push(() => directory.stop());
    const invoices = serviceBinary('dovecot') === null ? null : await startDovecot({ port: port.invoices });
    if (invoices !== null) {
      stops.push(() => invoices.stop());
      await Promise.all([deliverInvoices(invoices), deliverAlerts(invoices)]);
    }

    const files = await publishFiles(join(import.meta.dirname, '../../.cache/demo'));
    const broken = new Set<string>();
    clouds.answer = (folder) => (broken.has(folder) ? brokenCloud : cloudOf(folder));
    return {
      smtp,
      watched,
      /** Address of a monitored server that does not answer. */
      deadAddress: `https://localhost:${port.workshop}`,
      clouds,
      /** Makes a cloud fail or recover. */
      breakCloud: (folder: string, isBroken: boolean) => void (isBroken ? broken.add(folder) : broken.delete(folder)),
      tenders,
      /** Publishes a new procurement of today. */
      announce,
      calendar,
      directory,
      /** Null without Dovecot. */
      invoices,
      /** Settings that make the service read from these systems; the rest is in the tenant's settings. */
      env: {
        ...tenders.env,
        SMTP_HOST: '127.0.0.1',
        SMTP_PORT: String(port.mail),
        SMTP_SECURITY: 'none',
        SMTP_FROM: `portal@${domain}`,
        OUTBOUND_ALLOW_HOSTS: [
          `127.0.0.1:${port.tenders}`,
          `127.0.0.1:${port.invoices}`,
          `localhost:${port.calendar}`,
        ].join(','),
        NODE_EXTRA_CA_CERTS: fixturePath('ca'),
        ...files,
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

const named = async <Server>(name: string, started: Promise<Server>) => ({ name, server: await started });

/** A node is off, the others carry its guests, and the shared storage fills up. */
function strainedCluster(): Cluster {
  const cluster = smallCluster();
  const [nodes, rest] = [cluster.nodes.slice(0, 2), cluster.nodes.slice(2)];
  return {
    ...cluster,
    name: 'sued',
    nodes: [...nodes.map((node) => ({ ...node, memory: 0.89 })), ...rest.map((node) => ({ ...node, online: false }))],
    storages: cluster.storages.map((storage) => (storage.shared ? { ...storage, full: 0.86 } : storage)),
  };
}

/** One of its two stores is nearly full. */
function fullBackupHost() {
  const host = backupHost();
  const [first] = host.stores;
  if (first) Object.assign(first, { full: 0.97, fullInDays: 2 });
  return host;
}

const cloudOf = (folder: string) =>
  statusDocument({
    productname: 'Beispielcloud',
    ...instances.find((one) => one.folder === folder)?.status,
  });

/** From the notice to its deadline. */
const deadlineDays = [9, 31, 16, 45, 23];

/**
 * Fills the sources with four procurements for each of the last seven days. The same day always has the same procurements, so a second
 * read finds nothing new and a read tomorrow finds tomorrow's. Returns a function that publishes one of today.
 */
function showNotices(sources: Awaited<ReturnType<typeof startTenderSources>>): () => void {
  const today = Temporal.Now.plainDateISO('Europe/Berlin');
  const atBund: MadeUpNotice[] = [];
  for (let back = 1; back <= 7; back += 1) {
    const day = today.subtract({ days: back });
    const first = (day.since('2026-01-01').days % 20_000) * 4;
    const shown = [0, 1, 2, 3].map((n) => {
      const number = first + n;
      return madeUpNotice(number, {
        publishedOn: day.toString(),
        deadlineDay: day.add({ days: deadlineDays[(first + n) % deadlineDays.length] ?? 30 }).toString(),
        valueEuro: 20_000 + n * 35_000,
        // The number of a notice below the threshold, in a range that is not in use.
        ...(n === 3 && { id: String(90_000_000 + number) }),
        publicationNumber: n === 0 ? `${9_000_000 + number}-${day.year}` : null,
      });
    });
    sources.days.set(
      day.toString(),
      shown.map((notice) => exportEntry(notice)),
    );
    sources.journal.notices.push(...shown.filter(({ publicationNumber }) => publicationNumber !== null).map(tedJson));
    atBund.push(...shown.slice(3));
  }
  const show = (notices: MadeUpNotice[]) => sources.feeds.set('/bund.xml', { body: rssFeed(notices.map(bundItem)) });
  show(atBund);
  sources.feeds.set('/feeds/musterhausen.xml', { body: rssFeed([]) });
  const number = today.since('2026-01-01').days;
  const latest = madeUpNotice(number, {
    id: String(95_000_000 + number),
    title: `Glasreinigung der Turnhallen, Los ${number}`,
    cpv: ['90911300'],
    publishedOn: today.toString(),
    deadlineDay: today.add({ days: 21 }).toString(),
  });
  return () => void show([latest, ...atBund]);
}

/** Alert mails of portals that have no feed. */
async function deliverAlerts(mailbox: TestDovecot): Promise<void> {
  const at = new Date().toUTCString();
  for (const number of [1, 2]) await mailbox.deliver('ausschreibungen', alertAbout(number, { date: at }));
}

// Each start has the same GUIDs: with others, a sync would replace the people.
const makeGuid = (dn: string): Buffer => createHash('sha256').update(dn).digest().subarray(0, 16);

const names = ['nina.entwurf', 'paul.skizze', 'rosa.vordruck', 'tom.schablone'];

function people() {
  const users = names.map((name) => adUser(name, { mail: `${name}@musterhausen.example` }));
  return [...users, adGroup('Auszubildende', users.map(({ dn }) => dn).slice(0, 2))];
}

async function deliverInvoices(mailbox: TestDovecot): Promise<void> {
  for (const mail of invoiceMails()) await mailbox.deliver('rechnung', mail);
}
