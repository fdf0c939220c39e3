// 200 mails with invoices against downloading and parsing them bare in one thread, and a second fetch of 10,000 unchanged mails
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { ParseSpeeds, PDFDocument } from '@cantoo/pdf-lib';
import { XMLParser } from 'fast-xml-parser';
import { ImapFlow } from 'imapflow';
import PostalMime from 'postal-mime';
import { openDatabase } from '@portal/db/open';
import { readConfig } from '@portal/platform/config';
import { openLog } from '@portal/platform/log';
import { endRun } from '@portal/platform/runs/state';
import { openRuntime } from '@portal/platform/runtime';
import { invoiceSample, invoiceSamples } from '@portal/testing/einvoice-samples';
import { beginFetch, fetchNow, mailboxForm, mailWith } from '@portal/testing/invoices';
import { builders } from '@portal/testing/make';
import { startDovecot } from '@portal/testing/servers/dovecot';
import { authenticate } from '@portal/usecases/accounts/authenticate';
import { openSessionTokens } from '@portal/usecases/accounts/session-token';
import { fetchTenantInvoices } from '@portal/usecases/invoices/fetch/fetch-invoices';
import { listInvoices } from '@portal/usecases/invoices/invoices';
import { putInvoiceMailbox } from '@portal/usecases/invoices/mailbox';
import { alternate, benchDatabase, benchSettings, median, report, stopAll } from './measure.ts';

// As `npm start` does.
enableCompileCache();

const mails = Number(process.argv[2] ?? 200);
const unchanged = Number(process.argv[3] ?? 10_000);
const rounds = 5;
const fetches = 15;

const dovecot = await startDovecot();
try {
  const { url, folder } = await benchDatabase();
  const config = readConfig({ ...benchSettings(url, join(folder, 'data')), LOG_LEVEL: 'warn' });
  const database = openDatabase({ url, poolMax: 2, applicationName: 'bench' });
  const make = builders(database);
  const runtime = openRuntime(config, { process: 'worker', log: openLog('silent', 'worker') });

  /** Somebody new, so that every document is. */
  async function signedIn() {
    const admin = await make.user({ role: 'ADMIN' });
    const session = await make.session(admin);
    const token = openSessionTokens(config.sessionKeys).issue({
      sub: admin.id,
      tid: admin.tenantId,
      sid: session.id,
      ver: 1,
    });
    return authenticate(runtime.system({ requestId: 'bench', ip: null, userAgent: null }), token);
  }

  /** The samples over and over, each time as another document: what comes after its end changes none of them. */
  const samples = invoiceSamples();
  for (let n = 0; n < mails; n += 1) {
    const path = samples[n % samples.length] ?? '';
    const mark = path.endsWith('.pdf') ? `\n% ${n}\n` : `\n<!-- ${n} -->\n`;
    const bytes = Buffer.concat([invoiceSample(path), Buffer.from(mark)]);
    await dovecot.deliver('samples', mailWith({ attachments: [{ name: path.split('/').at(-1) ?? path, bytes }] }));
  }
  for (let n = 0; n < unchanged; n += 1) {
    await dovecot.deliver('unchanged', `Subject: ${n}\r\nMessage-ID: <${n}@example.org>\r\n\r\nText\r\n`);
  }

  async function bare<T>(user: string, work: (flow: ImapFlow) => Promise<T>): Promise<T> {
    const flow = new ImapFlow({
      host: dovecot.host,
      port: dovecot.port,
      secure: false,
      doSTARTTLS: false,
      auth: { user, pass: dovecot.password },
      logger: false,
      disableAutoIdle: true,
      disableCompression: true,
      disableAutoEnable: true,
    });
    await flow.connect();
    await flow.mailboxOpen('INBOX', { readOnly: true });
    try {
      return await work(flow);
    } finally {
      flow.close();
    }
  }

  const parser = new XMLParser({ ignoreAttributes: false, parseTagValue: false, removeNSPrefix: true });
  /** What the libraries take for a mail, and nothing else. */
  async function parseBare(mail: Uint8Array): Promise<void> {
    const { attachments } = await PostalMime.parse(mail);
    for (const { content, filename } of attachments) {
      const bytes = new Uint8Array(content as ArrayBuffer);
      if (!filename?.endsWith('.pdf')) parser.parse(Buffer.from(bytes).toString());
      else {
        const pdf = await PDFDocument.load(bytes, { updateMetadata: false, parseSpeed: ParseSpeeds.Fastest });
        for (const { data } of pdf.getAttachments()) parser.parse(Buffer.from(data).toString());
      }
    }
  }

  const taken = {
    ours: async (): Promise<number> => {
      const ctx = await signedIn();
      await putInvoiceMailbox(ctx, mailboxForm(dovecot, 'samples'));
      const startedAt = performance.now();
      // As many runs as it takes; the queue would begin each with the end of the one before.
      for (let n = 0; n < mails / 20; n += 1) await fetchNow(ctx);
      const ms = performance.now() - startedAt;
      const { items } = await listInvoices(ctx, { limit: mails + 1 });
      if (items.length !== mails) throw new Error(`there are ${items.length} invoices`);
      return ms;
    },
    limit: async (): Promise<number> => {
      const startedAt = performance.now();
      await bare('samples', async (flow) => {
        for await (const { source } of flow.fetch('1:*', { source: true })) if (source) await parseBare(source);
      });
      return performance.now() - startedAt;
    },
  };
  await taken.limit();
  await taken.ours();
  const all = await alternate(rounds, taken);
  report(`${mails} mails with the samples`, {
    ours: median(all.ours),
    limit: median(all.limit),
    unit: 'ms',
    goal: 'at most 2.0',
  });

  const ctx = await signedIn();
  await putInvoiceMailbox(ctx, mailboxForm(dovecot, 'unchanged'));
  for (let told = await fetchNow(ctx); told && told.done < told.total; told = await fetchNow(ctx));
  const again = {
    ours: async (): Promise<number> => {
      // What every job costs, its run and its place in the queue, is no part of it.
      const run = await beginFetch(ctx);
      const signal = new AbortController().signal;
      const progress = () => {
        throw new Error('something was new');
      };
      const startedAt = performance.now();
      await fetchTenantInvoices(ctx, { run, signal, actorId: null, progress });
      const ms = performance.now() - startedAt;
      await endRun(ctx, run, { error: null });
      return ms;
    },
    limit: async (): Promise<number> => {
      const startedAt = performance.now();
      await bare('unchanged', (flow) => flow.search({ all: true }, { uid: true }));
      return performance.now() - startedAt;
    },
  };
  await alternate(3, again);
  const looks = await alternate(fetches, again);
  report(`a second fetch of ${unchanged} mails`, {
    ours: median(looks.ours),
    limit: median(looks.limit),
    unit: 'ms',
    goal: 'at most 1.5',
  });
  await runtime.close();
  await database.close();
} finally {
  await dovecot.stop();
  await stopAll();
}
