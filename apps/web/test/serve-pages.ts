import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, inject } from 'vitest';
import { openPortal } from '@portal/client/client';
import { invoiceFiles, invoiceMails, invoices } from '@portal/db/schema/invoices';
import { newId } from '@portal/domain/ids';
import { noSources } from '@portal/testing/no-sources';
import { testRuntime } from '@portal/testing/runtime';
import { startProgram } from '@portal/testing/scenarios/worker-process';
import { startSmtpServer } from '@portal/testing/servers/smtp-server';
import { noticeRecord } from '@portal/testing/tender-notices';
import { queueSettings } from '@portal/testing/test-matrix';
import { openSessionTokens } from '@portal/usecases/accounts/session-token';
import { storeNotices } from '@portal/usecases/tenders/store-notices';
import { hasBrowser } from './chromium.ts';
import { type Account, openBrowser } from './open-browser.ts';
import type { ListedPage } from './page-list.ts';

interface ServeOptions {
  /** Starts a worker as well, and a mail server for what it sends. */
  sendsMail?: boolean;
  /** Settings in addition to those of every test. */
  env?: Record<string, string>;
}

const mailMs = 60_000;

/** All files of this process use the same one, so that the browser has the scripts of the pages already. */
let port = 0;

/** The password of every account. Its hash stands here, because making one for each account takes longer than most tests. */
const password = 'brave little lantern';
const passwordHash =
  '$argon2id$v=19$m=19456,t=2,p=1$dAevjecBNex08vId4Z9j6w$SUZ5KkzB/1fRWbb8ARlU/A9VVS0cLHCYtK7fwqJDALA';

export type Pages = Awaited<ReturnType<typeof servePages>>;

/** The real API with the built pages on a database of the calling test file, and a browser. */
export async function servePages({ sendsMail = false, env: more = {} }: ServeOptions = {}) {
  const { url: databaseUrl, ownerUrl, runtime, make } = await testRuntime();
  const smtp = sendsMail ? await startSmtpServer() : null;
  const dataDir = await mkdtemp(join(tmpdir(), 'portal-test-pages-'));
  port = await freePort(port);
  const url = `http://127.0.0.1:${port}`;
  const env = {
    DATABASE_URL: databaseUrl,
    // The keys of `testRuntime`, which makes the sessions.
    SESSION_SECRET: `test:${Buffer.alloc(32).toString('base64')}`,
    SECRETS_KEYS: `test:${Buffer.alloc(32, 1).toString('base64')}`,
    LOG_LEVEL: 'fatal',
    PORT: String(port),
    DATA_DIR: dataDir,
    WEB_DIR: hasBrowser ? inject('webDir') : '',
    ...(smtp && {
      SMTP_HOST: '127.0.0.1',
      SMTP_PORT: String(smtp.port),
      SMTP_SECURITY: 'none',
      SMTP_FROM: 'portal@example.org',
    }),
    ...noSources,
    ...queueSettings(databaseUrl),
    ...more,
  };

  const system = runtime.system({ requestId: 'test', ip: null, userAgent: null });

  const start = async (app: 'api' | 'worker') => {
    const program = startProgram(`apps/${app}/src/main.ts`, env);
    await Promise.race([once(program.child, 'message'), program.unexpectedEnd]);
    return async () => {
      program.child.kill('SIGTERM');
      await program.ended;
    };
  };
  let stopApi = hasBrowser ? await start('api') : null;
  const stopWorker = hasBrowser && sendsMail ? await start('worker') : null;
  const service = {
    url,
    start: async () => {
      stopApi ??= await start('api');
    },
    stop: async () => {
      const stop = stopApi;
      stopApi = null;
      await stop?.();
    },
  };
  afterAll(async () => {
    await Promise.all([service.stop(), stopWorker?.()]);
    await smtp?.stop();
    await rm(dataDir, { recursive: true, force: true, maxRetries: 3 });
  });

  const browser = await openBrowser({ url, cookieOf });

  async function cookieOf(account: Account): Promise<string> {
    const session = await make.session(account);
    const token = openSessionTokens(runtime.config.sessionKeys).issue({
      sub: account.id,
      tid: account.tenantId,
      sid: session.id,
      ver: account.sessionVersion ?? 1,
    });
    return `portal_session=${token}`;
  }

  /** An account of a tenant of its own, unless one is given. */
  async function addAccount(columns: Parameters<typeof make.user>[0] = {}) {
    const { id, tenantId, username, email, role } = await make.user({ passwordHash, ...columns });
    return { id, tenantId, username, email: email ?? '', role, password };
  }

  /** The typed client, signed in as this account in a session of its own. */
  function portalOf(account: Account | null) {
    const cookie = account && cookieOf(account);
    return openPortal({
      baseUrl: url,
      fetch: async (request) => {
        if (cookie) request.headers.set('cookie', await cookie);
        return fetch(request);
      },
    });
  }

  return {
    ...browser,
    cookieOf,
    service,
    make,
    addAccount,
    portalOf,
    /** Makes states that no call makes, with the rights of the database's owner. */
    async sql<Row extends object>(text: string, values: unknown[] = []): Promise<Row[]> {
      const client = new Client({ connectionString: ownerUrl });
      await client.connect();
      try {
        return (await client.query<Row>(text, values)).rows;
      } finally {
        await client.end();
      }
    },
    /** Stores notices as a source reports them; returns the ids of their tenders. */
    async addTenders(notices: Parameters<typeof storeNotices>[1]): Promise<string[]> {
      return (await storeNotices(system, notices)).tenderIds;
    },
    /** The account that may just open a page. */
    async accountFor(who: Exclude<ListedPage['who'], 'public'>) {
      if (who === 'account') return addAccount();
      if (typeof who === 'string') return addAccount({ role: who });
      const account = await addAccount();
      const admin = await addAccount({ role: 'ADMIN', tenantId: account.tenantId });
      await portalOf(admin).put('/module-grants', {
        body: { subjectType: 'user', subjectId: account.id, moduleKey: who.module, level: who.level },
      });
      return account;
    },
    /** The address of a page of the list, with something that belongs to the account for its parameters. */
    async samplePath(pattern: string, account: { id: string; tenantId: string } | undefined): Promise<string> {
      if (!pattern.includes(':') || !account) return pattern;
      const make = samples[pattern];
      if (!make) throw new Error(`serve-pages.ts has no sample for ${pattern}`);
      const admin = portalOf(await addAccount({ role: 'ADMIN', tenantId: account.tenantId }));
      const sample = { portal: portalOf(account), admin, account, database: runtime.database, system };
      return pattern.replace(':id', await make(sample));
    },
    /** Waits for the mail to this address that contains a link to the path; returns the link without its host. */
    async mailedLink(email: string, path: string): Promise<string> {
      if (!smtp) throw new Error('this file starts no mail server');
      const mail = await smtp.waitFor(
        ({ envelopeTo, text }) => envelopeTo.includes(email) && text.includes(url + path),
        mailMs,
      );
      return /\S+/.exec(mail.text.slice(mail.text.indexOf(url + path) + url.length))?.[0] ?? '';
    },
  };
}

type Portal = ReturnType<typeof openPortal>;

interface SampleContext {
  /** The account that opens the page, and an administrator of its tenant. */
  portal: Portal;
  admin: Portal;
  account: { id: string; tenantId: string };
  database: Awaited<ReturnType<typeof testRuntime>>['runtime']['database'];
  system: Parameters<typeof storeNotices>[0];
}

/** Makes what a page with parameters shows; returns its id. */
const samples: Record<string, (context: SampleContext) => Promise<string>> = {
  '/app/admin/users/:id': async ({ portal }) => {
    const body = { username: `erika.muster-${newId()}`, displayName: 'Erika Muster' };
    return (await portal.post('/users', { body })).id;
  },
  '/app/tabs/:id': async ({ portal }) => (await portal.post('/dashboard/tabs', { body: { name: 'Control room' } })).id,
  '/app/cloud-status/:id': async ({ admin }) => {
    const body = { customerName: 'Nordheim', statusUrl: 'https://cloud.example.org' };
    return (await admin.post('/cloud-status/instances', { body })).id;
  },
  '/app/virtualization/:id': async ({ admin }) => {
    const login = { authMethod: 'password', username: 'portal@pbs', password: 'nightly copies' } as const;
    const body = { kind: 'backup', name: 'Backup Nord', address: 'https://pbs.example.org', ...login } as const;
    return (await admin.post('/virtualization/servers', { body })).id;
  },
  '/app/modules/:id': async ({ portal }) => {
    const body = { name: 'Wiki', url: 'https://wiki.example.org/', category: 'custom-modules' };
    return (await portal.post('/custom-modules', { body })).id;
  },
  '/app/tenders/:id': async ({ system }) => {
    const lots = ['Glasreinigung', 'Unterhaltsreinigung'].map((title, at) => ({
      id: `LOT-000${at + 1}`,
      title,
      description: 'Leistungen nach Leistungsverzeichnis.',
      cpvCodes: ['90911000'],
      nutsCodes: ['DEA23'],
      valueCents: 24_000_000,
      currency: 'EUR',
    }));
    const deadlines = lots.map(({ id }) => ({
      kind: 'tender' as const,
      lotId: id,
      at: '2999-12-18T10:00:00.000Z',
      isDateOnly: false,
    }));
    const notice = noticeRecord({ title: 'Reinigung des Rathauses', description: 'Glas und Böden.', lots, deadlines });
    return (await storeNotices(system, [notice])).tenderIds[0] ?? '';
  },
  '/app/invoices/:id': async ({ account: { tenantId }, database }) => {
    const [id, mailId] = [newId(), newId()];
    const mail = { id: mailId, tenantId, boxId: newId(), uidValidity: '1', uid: 1, isSettled: true };
    const invoice = { id, tenantId, mailId, state: 'new' as const, format: 'zugferd' as const, receivedAt: new Date() };
    const file = { id: newId(), tenantId, invoiceId: id, position: 0, fileName: 'R-2026-0815.pdf', sizeBytes: 84_000 };
    await database.inTenant(tenantId).tx(async (tx) => {
      await tx.insert(invoiceMails).values({ ...mail, fingerprint: Buffer.from(mailId) });
      await tx.insert(invoices).values({ ...invoice, ...invoiceFigures });
      await tx
        .insert(invoiceFiles)
        .values({ ...file, type: 'application/pdf', sha256: Buffer.from(id), path: `invoice-documents/${id}.pdf` });
    });
    return id;
  },
};

const invoiceFigures = {
  typeCode: '380',
  number: 'R-2026-0815',
  date: '2026-11-16',
  dueDate: '2026-12-16',
  seller: 'Bürobedarf Nord GmbH',
  sellerVatId: 'DE123456789',
  buyer: 'Stadtwerke Beispielstadt',
  currency: 'EUR',
  totalCents: 119_00,
  payableCents: 119_00,
  iban: 'DE02120300000000202051',
  sender: 'rechnung@buerobedarf-nord.example',
  subject: 'Ihre Rechnung R-2026-0815',
};

/** A port that nobody uses: this one if it is still free. */
async function freePort(wanted: number): Promise<number> {
  const server = createServer().listen(wanted, '127.0.0.1');
  const isFree = await once(server, 'listening').then(
    () => true,
    () => false,
  );
  if (!isFree) return freePort(0);
  const address = server.address();
  server.close();
  await once(server, 'close');
  return typeof address === 'object' && address ? address.port : 0;
}
