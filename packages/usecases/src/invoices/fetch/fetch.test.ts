import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { eq, sql } from 'drizzle-orm';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { invoiceFiles, invoiceMailboxes, invoiceMails, invoices } from '@portal/db/schema/invoices';
import { mailMaxTries } from '@portal/domain/invoices/limits';
import type { InvoiceMailboxInput } from '@portal/domain/invoices/mailbox';
import { beginRun, endRun } from '@portal/platform/runs/state';
import { invoiceSample } from '@portal/testing/einvoice-samples';
import { canLimitFileSize, limitFileSize } from '@portal/testing/file-size-limit';
import { beginFetch, fetchNow, invoiceMail, mailboxForm, mailWith, ublInvoice } from '@portal/testing/invoices';
import { deflatedGigabyte, pdfStream, pdfWithFile, plainPdf } from '@portal/testing/pdf';
import { testRuntime } from '@portal/testing/runtime';
import { startDovecot, type TestDovecot } from '@portal/testing/servers/dovecot';
import { type ImapGate, openImapGate } from '@portal/testing/servers/imap-gate';
import { serviceBinary } from '@portal/testing/services';
import { the } from '@portal/testing/the';
import { setModuleEnabled } from '../../modules/modules.ts';
import { getDocument, listInvoices, openDocument } from '../invoices.ts';
import { deleteInvoiceMailbox, getInvoiceMailbox, putInvoiceMailbox } from '../mailbox.ts';
import { fetchTenantInvoices } from './fetch-invoices.ts';

const { make, signedIn, config } = await testRuntime();

type Ctx = Awaited<ReturnType<typeof signedIn>>;
const MiB = 1024 * 1024;

describe.skipIf(serviceBinary('dovecot') === null)('fetching invoices', () => {
  let dovecot: TestDovecot;
  let gate: ImapGate;
  beforeAll(async () => {
    dovecot = await startDovecot();
    gate = await openImapGate(dovecot);
  });
  afterEach(() => {
    gate.setFault(null);
    gate.onCommand = null;
  });
  afterAll(async () => {
    await gate.stop();
    await dovecot.stop();
  });

  let people = 0;
  /** A manager with a mailbox that holds these mails and is reached through the gate. */
  async function managed(mails: (string | Uint8Array)[] = [], more: Partial<InvoiceMailboxInput> = {}) {
    const ctx = await signedIn(await make.user({ role: 'ADMIN' }));
    people += 1;
    const name = `rechnung${people}`;
    await dovecot.makeFolder(name, 'INBOX');
    for (const folder of [more.processedFolder, more.failedFolder]) if (folder) await dovecot.makeFolder(name, folder);
    for (const mail of mails) await dovecot.deliver(name, mail);
    await putInvoiceMailbox(ctx, mailboxForm({ ...gate, password: dovecot.password }, name, more));
    return { ctx, name };
  }
  const folders = { processedFolder: 'Verarbeitet', failedFolder: 'Fehler' };

  const all = async (ctx: Ctx) => (await listInvoices(ctx, { limit: 200 })).items.toReversed();
  const shown = async (ctx: Ctx) =>
    (await all(ctx)).map(({ number, state, error, files }) => [
      number,
      state,
      error,
      files.map(({ fileName }) => fileName),
    ]);
  const bytesOf = async (ctx: Ctx, id: string, position = 0): Promise<Buffer> => {
    const file = await openDocument(ctx, await getDocument(ctx, id, position));
    return Buffer.concat(await file.stream.toArray());
  };
  const files = async () => {
    const found = await readdir(join(config.dataDir, 'files', 'invoice-documents'), { recursive: true }).catch(
      () => [],
    );
    return found.filter((path) => /\.\w+$/.test(path)).length;
  };
  const isDue = async (ctx: Ctx) =>
    (await ctx.read((db) => db.$count(invoiceMailboxes, sql`next_fetch_at <= now()`))) === 1;
  const mailRows = (ctx: Ctx) => ctx.read((db) => db.$count(invoiceMails));

  it('a run that crashed two processes lets the mailbox rest for an hour', async () => {
    const { ctx } = await managed([invoiceMail()]);
    const { id, attempt } = await beginFetch(ctx);
    const begin = async () => the(await beginRun(ctx, id));
    expect([attempt, (await begin()).attempt]).toEqual([1, 2]);
    const before = gate.connections();
    const work = { signal: new AbortController().signal, actorId: null, progress: () => undefined };
    await expect(fetchTenantInvoices(ctx, { ...work, run: await begin() })).rejects.toMatchObject({
      code: 'MAILBOX_UNAVAILABLE',
      message: expect.stringContaining('asked again in an hour'),
    });
    expect(gate.connections()).toBe(before);
    const resting = sql`next_fetch_at between now() + interval '59 minutes' and now() + interval '61 minutes'`;
    expect(await ctx.read((db) => db.$count(invoiceMailboxes, resting))).toBe(1);
    expect(await getInvoiceMailbox(ctx)).toMatchObject({ lastError: 'protocol' });
    await endRun(ctx, { id }, { error: null });
    expect(await fetchNow(ctx)).toEqual({ done: 1, total: 1 });
    expect(await getInvoiceMailbox(ctx)).toMatchObject({ lastError: null });
  });

  describe('a mail', () => {
    it('is read once, and leaves no trace in the mailbox without folders', async () => {
      const { ctx, name } = await managed([invoiceMail(), mailWith(), invoiceMail({ number: 'R-2' })]);
      const before = await dovecot.mails(name);
      expect(await fetchNow(ctx)).toEqual({ done: 3, total: 3 });
      expect(await fetchNow(ctx)).toBeNull();
      expect(await shown(ctx)).toEqual([
        ['R-1000', 'new', null, ['R-1000.xml']],
        ['R-2', 'new', null, ['R-2.xml']],
      ]);
      expect(await dovecot.mails(name)).toEqual(before);
      // The mail without documents is remembered like the others.
      expect(await mailRows(ctx)).toBe(3);
      expect(await getInvoiceMailbox(ctx)).toMatchObject({ lastError: null, lastFetchedAt: expect.any(Date) });
    });

    it('stays where it is while the module is switched off', async () => {
      const { ctx } = await managed([invoiceMail()]);
      await setModuleEnabled(ctx, 'invoice-mailbox', false);
      gate.takeCommands();
      await fetchNow(ctx);
      expect(gate.takeCommands()).toEqual([]);
      await setModuleEnabled(ctx, 'invoice-mailbox', true);
      expect(await fetchNow(ctx)).toEqual({ done: 1, total: 1 });
    });

    it('with a known UID is not requested again', async () => {
      const { ctx } = await managed([invoiceMail()]);
      await fetchNow(ctx);
      gate.takeCommands();
      await fetchNow(ctx);
      expect(gate.takeCommands().join('\n')).not.toMatch(/FETCH|SEARCH/);
    });

    it('is recognized by its Message-ID after the UIDs have changed, and is not downloaded again', async () => {
      const { ctx, name } = await managed([
        invoiceMail(),
        mailWith(),
        mailWith({ messageId: null, attachments: [{ name: 'a.xml', bytes: ublInvoice({ number: 'R-3' }) }] }),
      ]);
      await fetchNow(ctx);
      const before = await shown(ctx);
      await dovecot.renumber(name);
      await dovecot.deliver(name, invoiceMail({ number: 'R-9' }));
      gate.takeCommands();
      await fetchNow(ctx);
      expect(await shown(ctx)).toEqual([...before, ['R-9', 'new', null, ['R-9.xml']]]);
      expect(gate.takeCommands().filter((line) => /BODY\.PEEK\[\]/.test(line))).toHaveLength(1);
    });

    it.each([
      ['in Message-ID, date, sender and subject', { messageId: '<always@the.same>' }],
      ['in size, date, sender and subject, without a Message-ID', { messageId: null }],
    ])('that equals another %s is still read', async (_, head) => {
      const { ctx, name } = await managed([
        invoiceMail({ number: 'R-1' }, head),
        invoiceMail({ number: 'R-2' }, head),
        // The same document again.
        invoiceMail({ number: 'R-2' }, head),
      ]);
      expect(await fetchNow(ctx)).toEqual({ done: 3, total: 3 });
      await dovecot.deliver(name, invoiceMail({ number: 'R-3' }, head));
      await fetchNow(ctx);
      expect((await shown(ctx)).map(([number]) => number)).toEqual(['R-1', 'R-2', 'R-3']);
    });

    it('with a different text but a known document adds nothing', async () => {
      const bytes = ublInvoice({ number: 'R-7' });
      const twice = { name: 'r.xml', bytes };
      const { ctx } = await managed([
        mailWith({ attachments: [twice, { name: 'again.xml', bytes }] }),
        mailWith({ subject: 'Mahnung', attachments: [twice] }),
      ]);
      await fetchNow(ctx);
      expect(await shown(ctx)).toEqual([['R-7', 'new', null, ['r.xml']]]);
    });

    it('with different bytes of the same invoice is stored as a duplicate of the first', async () => {
      const { ctx, name } = await managed([
        invoiceMail({ note: 'first' }),
        invoiceMail({ note: 'second' }),
        invoiceMail({ note: 'other total', total: '120.00' }),
        invoiceMail({ note: 'other seller', vatId: 'DE999999999' }),
      ]);
      await fetchNow(ctx);
      await dovecot.deliver(name, invoiceMail({ note: 'third' }));
      await fetchNow(ctx);
      const [first, ...others] = await all(ctx);
      expect(others.map(({ state, duplicateOf }) => [state, duplicateOf])).toEqual([
        ['duplicate', first?.id],
        ['new', null],
        ['new', null],
        ['duplicate', first?.id],
      ]);
    });

    it.each([
      ['with the next mail', 1],
      ['at the next fetch', 2],
    ])(
      'with an XML and a PDF of one number is one invoice with two files, XML first; a PDF that arrives %s joins it',
      async (_, fetches) => {
        const xml = { name: 'R-1000.xml', bytes: ublInvoice() };
        const pdf = { name: 'Rechnung R-1000.pdf', bytes: plainPdf('a') };
        const { ctx, name } = await managed([mailWith({ attachments: [pdf, xml] })]);
        if (fetches === 2) await fetchNow(ctx);
        await dovecot.deliver(
          name,
          mailWith({ attachments: [xml, { name: 'R-1000 Kopie.pdf', bytes: plainPdf('b') }] }),
        );
        await fetchNow(ctx);
        const [invoice, ...others] = await all(ctx);
        expect(others).toEqual([]);
        expect(invoice?.files.map(({ fileName, type }) => [fileName, type])).toEqual([
          ['R-1000.xml', 'application/xml'],
          ['Rechnung R-1000.pdf', 'application/pdf'],
          ['R-1000 Kopie.pdf', 'application/pdf'],
        ]);
        expect(await bytesOf(ctx, invoice?.id ?? '', 0)).toEqual(Buffer.from(xml.bytes));
        expect(await bytesOf(ctx, invoice?.id ?? '', 2)).toEqual(plainPdf('b'));
      },
    );

    it('may contain an invoice in an attached mail, which is served byte for byte', async () => {
      const pdf = invoiceSample('zugferd-corpus/EN16931_Einfach.pdf');
      const inner = mailWith({ attachments: [{ name: 'zf.pdf', type: 'application/pdf', bytes: pdf }] });
      const { ctx } = await managed([
        mailWith({ attachments: [{ name: 'fwd.eml', type: 'message/rfc822', bytes: inner, encoding: '8bit' }] }),
      ]);
      await fetchNow(ctx);
      const [invoice] = await all(ctx);
      expect(invoice).toMatchObject({ format: 'zugferd', number: '471102', totalCents: 529_87, fileName: 'zf.pdf' });
      expect(await bytesOf(ctx, invoice?.id ?? '')).toEqual(pdf);
    });
  });

  it('files embedded in an invoice are not separate documents', async () => {
    const inside = Buffer.from(plainPdf()).toString('base64');
    const note = `</cbc:Note><cac:AdditionalDocumentReference><cbc:ID>1</cbc:ID><cac:Attachment><cbc:EmbeddedDocumentBinaryObject mimeCode="application/pdf" filename="anlage.pdf">${inside}</cbc:EmbeddedDocumentBinaryObject></cac:Attachment></cac:AdditionalDocumentReference><cbc:Note>`;
    const { ctx } = await managed([invoiceMail({ note })]);
    await fetchNow(ctx);
    expect(await shown(ctx)).toEqual([['R-1000', 'new', null, ['R-1000.xml']]]);
  });

  describe('a document that cannot be read', () => {
    it('is stored with its reason, next to readable documents', async () => {
      const { ctx } = await managed([
        mailWith({
          attachments: [
            { name: 'alles.zip', type: 'application/zip', bytes: 'PK' },
            { name: 'boese.xml', bytes: '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>' },
            { name: 'seite.xml', bytes: '<html><body>Rechnung</body></html>' },
            { name: 'halb.pdf', bytes: invoiceSample('zugferd-corpus/EN16931_Einfach.pdf').subarray(0, 50_000) },
            { name: 'gut.xml', bytes: ublInvoice() },
          ],
        }),
      ]);
      await fetchNow(ctx);
      expect(await shown(ctx)).toEqual([
        ['R-1000', 'new', null, ['gut.xml']],
        [null, 'failed', 'UNSUPPORTED', ['alles.zip.bin']],
        [null, 'failed', 'XML_REFUSED', ['boese.xml']],
        [null, 'failed', 'XML_REFUSED', ['seite.xml.bin']],
        [null, 'failed', 'DAMAGED', ['halb.pdf']],
      ]);
    });

    it('harms only itself, even if it decompresses to a gigabyte', { timeout: 120_000 }, async () => {
      // The library decompresses object streams before the file can be inspected.
      const giga = deflatedGigabyte();
      const objects = Buffer.concat([
        Buffer.from(
          `%PDF-1.7\n1 0 obj\n<< /Type /ObjStm /N 1 /First 4 /Filter /FlateDecode /Length ${giga.length} >>\nstream\n`,
        ),
        giga,
        Buffer.from('\nendstream\nendobj\ntrailer << /Root 1 0 R >>\nstartxref\n9\n%%EOF\n'),
      ]);
      const { ctx } = await managed([
        mailWith({
          attachments: [
            { name: 'riese.pdf', bytes: objects },
            { name: 'gut.xml', bytes: ublInvoice() },
          ],
        }),
        mailWith({
          attachments: [
            { name: 'klein.pdf', bytes: pdfWithFile('factur-x.xml', pdfStream(giga, '/Filter /FlateDecode')) },
          ],
        }),
      ]);
      const before = process.memoryUsage().rss;
      // On a busy machine, one or both mails are left for another run.
      for (let runs = 0; runs < 3 && (await shown(ctx)).length < 3; runs += 1) await fetchNow(ctx);
      expect((process.memoryUsage().rss - before) / MiB).toBeLessThan(200);
      expect(await shown(ctx)).toEqual([
        ['R-1000', 'new', null, ['gut.xml']],
        [null, 'failed', 'TOO_LARGE', ['riese.pdf']],
        [null, 'failed', 'TOO_LARGE', ['klein.pdf']],
      ]);
    });

    it('in a mail beyond 25 MiB is not downloaded, and is reported once; a mail with too many documents is stored as one file', async () => {
      const large = mailWith({ attachments: [{ name: 'gross.pdf', bytes: Buffer.alloc(19 * MiB) }] });
      const crowded = mailWith({
        attachments: Array.from({ length: 1_000 }, (_, n) => ({ name: `${n}.xml`, bytes: '<a/>' })),
      });
      const { ctx, name } = await managed([large, crowded]);
      gate.takeCommands();
      await fetchNow(ctx);
      expect(gate.takeCommands().filter((line) => /BODY\.PEEK\[\]/.test(line))).toHaveLength(1);
      expect(await shown(ctx)).toEqual([
        [null, 'failed', 'TOO_LARGE', []],
        [null, 'failed', 'TOO_LARGE', ['mail.eml.bin']],
      ]);
      const [unread, stored] = await all(ctx);
      expect(unread).toMatchObject({ fileName: null, sender: 'rechnung@lieferant.example', subject: 'Ihre Rechnung' });
      expect(await bytesOf(ctx, stored?.id ?? '')).toEqual(crowded);
      await dovecot.renumber(name);
      await fetchNow(ctx);
      expect((await all(ctx)).map(({ id }) => id)).toEqual([unread?.id, stored?.id]);
    });

    it('is refused in bounded time and memory if it is 20 MB of XML', { timeout: 120_000 }, async () => {
      const xml = ublInvoice({ note: `</cbc:Note>${'<x>1</x>'.repeat(2_500_000)}<cbc:Note>` });
      const { ctx } = await managed([mailWith({ attachments: [{ name: 'lang.xml', bytes: xml, encoding: '8bit' }] })]);
      await fetchNow(ctx);
      expect(await shown(ctx)).toEqual([[null, 'failed', 'TOO_LARGE', ['lang.xml']]]);
    });

    it('gets a name that is safe to display and to use as a file name', async () => {
      const names = ['../../etc/passwd.xml', 'C:\\temp\\a.xml', 'fdp\u202Elmx.xml', '.xml', `${'x'.repeat(500)}.xml`];
      const encoded = (name: string) => `=?utf-8?B?${Buffer.from(name).toString('base64')}?=`;
      const { ctx } = await managed([
        mailWith({
          attachments: names.map((name, n) => ({ name: encoded(name), bytes: ublInvoice({ number: `${n}` }) })),
        }),
        mailWith({ attachments: [{ name: 'a\r\n b.xml', bytes: ublInvoice({ number: '9' }) }] }),
      ]);
      await fetchNow(ctx);
      const files = (await all(ctx)).flatMap((invoice) => invoice.files.map(({ fileName }) => fileName));
      expect(files.slice(0, 4)).toEqual(['passwd.xml', 'a.xml', 'fdplmx.xml', 'invoice.xml']);
      for (const name of files) expect(name).toMatch(/^[^/\\\p{Cc}\p{Cf}]{1,200}$/u);
    });
  });

  describe('a run', () => {
    it('reads twenty mails, reports its progress, and leaves the rest for another run that starts at once', async () => {
      const { ctx } = await managed(Array.from({ length: 45 }, (_, n) => invoiceMail({ number: `R-${n}` })));
      await ctx.tx((tx) => tx.update(invoiceMailboxes).set({ nextFetchAt: sql`now() + interval '10 minutes'` }));
      expect(await fetchNow(ctx)).toEqual({ done: 20, total: 45 });
      expect(await isDue(ctx)).toBe(true);
      await ctx.tx((tx) => tx.update(invoiceMailboxes).set({ nextFetchAt: null }));
      expect(await fetchNow(ctx)).toEqual({ done: 20, total: 25 });
      await ctx.tx((tx) => tx.update(invoiceMailboxes).set({ nextFetchAt: null }));
      expect(await fetchNow(ctx)).toEqual({ done: 5, total: 5 });
      expect(await isDue(ctx)).toBe(false);
      expect((await all(ctx)).map(({ number }) => number)).toEqual(Array.from({ length: 45 }, (_, n) => `R-${n}`));
    });

    it('starts no other mail when its time is nearly up, and ends when it is up', async () => {
      const { ctx } = await managed([invoiceMail({ number: 'R-1' }), invoiceMail({ number: 'R-2' })]);
      expect(await fetchNow(ctx, { limits: { inAllMs: 60_000, beginsUntilMs: 0 } })).toBeNull();
      expect(await all(ctx)).toEqual([]);
      gate.setFault({ kind: 'stall', at: /BODY\.PEEK\[\]/ });
      const startedAt = performance.now();
      await expect(fetchNow(ctx, { limits: { inAllMs: 1_500, beginsUntilMs: 1_000 } })).rejects.toMatchObject({
        code: 'MAILBOX_UNAVAILABLE',
      });
      expect(performance.now() - startedAt).toBeLessThan(6_000);
      expect((await getInvoiceMailbox(ctx)).lastError).toBe('timeout');
    });

    it('skips a mail that the server never delivers, after some attempts', async () => {
      const { ctx } = await managed([
        invoiceMail({ number: 'R-1' }),
        invoiceMail({ number: 'R-2' }),
        invoiceMail({ number: 'R-3' }),
      ]);
      gate.setFault({ kind: 'drop', at: /UID FETCH 2 .*BODY\.PEEK\[\]/ });
      for (let n = 0; n < 5; n += 1) await expect(fetchNow(ctx)).rejects.toMatchObject({ code: 'MAILBOX_UNAVAILABLE' });
      expect((await getInvoiceMailbox(ctx)).lastError).toBe('unreachable');
      await fetchNow(ctx);
      expect((await shown(ctx)).map(([number, , error]) => [number, error])).toEqual([
        ['R-1', null],
        [null, 'DAMAGED'],
        ['R-3', null],
      ]);
      expect((await getInvoiceMailbox(ctx)).lastError).toBeNull();
    });

    it('reads a mail that failed, left the folder and came back', async () => {
      const mail = invoiceMail({ number: 'R-1' });
      const { ctx, name } = await managed([mail], folders);
      gate.setFault({ kind: 'drop', at: /UID FETCH 1 .*BODY\.PEEK\[\]/ });
      await expect(fetchNow(ctx)).rejects.toThrow();
      gate.setFault(null);
      await dovecot.empty(name);
      await fetchNow(ctx);
      expect(await ctx.read((db) => db.$count(invoiceMails))).toBe(0);
      await dovecot.deliver(name, mail);
      await fetchNow(ctx);
      expect((await all(ctx)).map(({ number }) => number)).toEqual(['R-1']);
    });

    it('reads a skipped mail when it is put back, and reports it only once if that fails again', async () => {
      const mail = invoiceMail({ number: 'R-1' });
      const { ctx, name } = await managed([mail], folders);
      for (let times = 0; times < 2; times += 1) {
        gate.setFault({ kind: 'drop', at: /BODY\.PEEK\[\]/ });
        for (let n = 0; n < mailMaxTries; n += 1) await expect(fetchNow(ctx)).rejects.toThrow();
        gate.setFault(null);
        await fetchNow(ctx);
        expect(await shown(ctx)).toEqual([[null, 'failed', 'DAMAGED', []]]);
        expect(await dovecot.mails(name, 'Fehler')).toHaveLength(1);
        await dovecot.empty(name, 'Fehler');
        await dovecot.deliver(name, mail);
      }
      await fetchNow(ctx);
      expect(await shown(ctx)).toEqual([['R-1', 'new', null, ['R-1.xml']]]);
      expect(await dovecot.mails(name, 'Verarbeitet')).toHaveLength(1);
    });

    it.each([
      ['without a folder for failed mails', {}],
      ['before it is moved to the folder for failed mails', folders],
    ])('that skipped a mail, %s, still reports it after reading one with the same headers', async (_, more) => {
      const head = { messageId: '<always@the.same>' };
      const { ctx } = await managed([invoiceMail({ number: 'R-1' }, head), invoiceMail({ number: 'R-2' }, head)], more);
      gate.setFault({ kind: 'drop', at: /UID FETCH 1 .*BODY\.PEEK\[\]/ });
      for (let n = 0; n < mailMaxTries; n += 1) await expect(fetchNow(ctx)).rejects.toThrow();
      gate.setFault(null);
      await fetchNow(ctx);
      expect((await shown(ctx)).map(([number, state, error]) => [number, state, error])).toEqual([
        [null, 'failed', 'DAMAGED'],
        ['R-2', 'new', null],
      ]);
    });

    it('reads a mail that succeeds at a later attempt', async () => {
      const { ctx, name } = await managed([invoiceMail({ number: 'R-1' }), invoiceMail({ number: 'R-2' })], folders);
      gate.setFault({ kind: 'drop', at: /UID FETCH 1 .*BODY\.PEEK\[\]/ });
      await expect(fetchNow(ctx)).rejects.toThrow();
      gate.setFault(null);
      await fetchNow(ctx);
      expect((await all(ctx)).map(({ number }) => number)).toEqual(['R-1', 'R-2']);
      expect((await dovecot.mails(name, 'Verarbeitet')).length).toBe(2);
      expect(await ctx.read((db) => db.$count(invoiceMails, eq(invoiceMails.isSettled, false)))).toBe(0);
    });

    describe('beside mail servers that send a byte at a time', () => {
      const slowServers: ImapGate[] = [];
      afterEach(async () => {
        for (const server of slowServers.splice(0)) await server.stop();
      });

      /** Starts a fetch from such a server; returns once the download has begun. */
      async function startSlowFetch(limits: { inAllMs: number; beginsUntilMs: number }) {
        const server = await openImapGate(dovecot);
        slowServers.push(server);
        server.setFault({ kind: 'trickle', at: /BODY\.PEEK\[\]/ });
        const begun = Promise.withResolvers<void>();
        server.onCommand = (line) => {
          if (/BODY\.PEEK\[\]/.test(line)) begun.resolve();
        };
        const { ctx } = await managed(
          Array.from({ length: 6 }, () => invoiceMail()),
          { host: server.host, port: server.port },
        );
        const ended = fetchNow(ctx, { limits }).catch((error: unknown) => error);
        await begun.promise;
        return { ended, server };
      }
      const usual = { inAllMs: 60_000, beginsUntilMs: 50_000 };

      it('of one tenant, mails of other tenants are read at once', async () => {
        const { ended, server } = await startSlowFetch(usual);
        let isOver = false;
        void ended.then(() => (isOver = true));
        const { ctx } = await managed([invoiceMail({ number: 'R-1' }), invoiceMail({ number: 'R-2' })]);
        expect(await fetchNow(ctx, { limits: usual })).toEqual({ done: 2, total: 2 });
        expect(isOver).toBe(false);
        await server.stop();
        expect(await ended).toMatchObject({ code: 'MAILBOX_UNAVAILABLE' });
      });

      it.each([
        ['gets no capacity', { inAllMs: 60_000, beginsUntilMs: 1_500 }, 3_000],
        ['gets capacity too late to be read', { inAllMs: 8_000, beginsUntilMs: 7_000 }, 3_000],
      ])(
        'of several tenants, a mail that %s is left for another run, and the attempt is not counted',
        async (_, limits, slowMs) => {
          const slowFetches = await Promise.all(
            [1, 2].map(() => startSlowFetch({ inAllMs: slowMs, beginsUntilMs: slowMs })),
          );
          const { ctx } = await managed([invoiceMail({ number: 'R-1' })]);
          expect(await fetchNow(ctx, { limits })).toBeNull();
          expect(await mailRows(ctx)).toBe(0);
          expect((await getInvoiceMailbox(ctx)).lastError).toBeNull();
          expect(await isDue(ctx)).toBe(true);
          await Promise.all(slowFetches.map(({ ended }) => ended));
          await fetchNow(ctx);
          expect(await shown(ctx)).toEqual([['R-1', 'new', null, ['R-1.xml']]]);
        },
      );

      it('of several tenants, a mail that waited and is interrupted by the end of its run is left for another run', async () => {
        const slowFetches = await Promise.all(
          [1, 2].map(() => startSlowFetch({ inAllMs: 3_000, beginsUntilMs: 3_000 })),
        );
        const { ctx, name } = await managed([invoiceMail({ number: 'R-1' })], folders);
        gate.setFault({ kind: 'stall', at: /BODY\.PEEK\[\]/ });
        expect(await fetchNow(ctx, { limits: { inAllMs: 5_000, beginsUntilMs: 4_500 } })).toBeNull();
        gate.setFault(null);
        expect(await mailRows(ctx)).toBe(0);
        expect((await getInvoiceMailbox(ctx)).lastError).toBeNull();
        await Promise.all(slowFetches.map(({ ended }) => ended));
        await fetchNow(ctx);
        expect(await dovecot.mails(name, 'Verarbeitet')).toHaveLength(1);
      });
    });

    it.each([
      ['unauthorized', { password: 'wrong' }],
      ['folderMissing', { folder: 'Nirgends' }],
      ['unreachable', { port: 1 }],
      ['protocol', { security: 'tls' as const }],
    ])('that fails says why: %s', async (kind, more) => {
      const { ctx } = await managed([invoiceMail()], more);
      await expect(fetchNow(ctx)).rejects.toMatchObject({
        kind: 'upstream',
        code: 'MAILBOX_UNAVAILABLE',
        message: expect.stringMatching(/^The mail server .*\.$/),
      });
      expect(await getInvoiceMailbox(ctx)).toMatchObject({ lastError: kind, lastFetchedAt: null });
      expect(await all(ctx)).toEqual([]);
    });

    it('pauses a mailbox after three refused sign-ins, until its settings are saved again', async () => {
      const { ctx, name } = await managed([invoiceMail()], { password: 'wrong' });
      for (const isPaused of [false, false, true]) {
        await expect(fetchNow(ctx)).rejects.toMatchObject({ message: expect.stringContaining('did not accept') });
        expect(await getInvoiceMailbox(ctx)).toMatchObject({ isPaused, isActive: true, lastError: 'unauthorized' });
        expect(await isDue(ctx)).toBe(!isPaused);
      }
      const before = gate.connections();
      await expect(fetchNow(ctx)).rejects.toMatchObject({
        code: 'MAILBOX_UNAVAILABLE',
        message: expect.stringContaining('save the settings again'),
      });
      expect(gate.connections()).toBe(before);
      await putInvoiceMailbox(ctx, mailboxForm({ ...gate, password: dovecot.password }, name));
      expect(await getInvoiceMailbox(ctx)).toMatchObject({ isPaused: false, lastError: null });
      expect(await isDue(ctx)).toBe(true);
      await fetchNow(ctx);
      expect(await all(ctx)).toHaveLength(1);
    });

    it('contacts no mailbox while the invoice storage is full; the settings show usage and limit', async () => {
      const { ctx, name } = await managed([invoiceMail(), mailWith()]);
      const full = { ...ctx, config: { ...config, invoiceStoragePerTenant: 9_000 } };
      await fetchNow(full);
      const [invoice] = await all(ctx);
      const size = (await bytesOf(ctx, the(invoice).id)).length;
      expect(await getInvoiceMailbox(full)).toMatchObject({ storedBytes: size + 2 * 4_096, maxStoredBytes: 9_000 });
      expect(size).toBeGreaterThan(1_000);
      await dovecot.deliver(name, invoiceMail({ number: 'R-2' }));
      const before = gate.connections();
      await expect(fetchNow(full)).rejects.toMatchObject({ code: 'LIMIT_REACHED', kind: 'conflict' });
      expect(gate.connections()).toBe(before);
      await fetchNow(ctx);
      expect(await all(ctx)).toHaveLength(2);
    });

    it('resets the count of refused sign-ins after a successful one', async () => {
      const { ctx } = await managed([invoiceMail()]);
      const refusals = async () => (await ctx.read((db) => db.select().from(invoiceMailboxes)))[0]?.refusals;
      await ctx.tx((tx) => tx.update(invoiceMailboxes).set({ refusals: 2 }));
      gate.setFault({ kind: 'stall', at: 'greeting' });
      const short = { inAllMs: 500, beginsUntilMs: 500 };
      await expect(fetchNow(ctx, { limits: short })).rejects.toThrow();
      expect(await refusals()).toBe(2);
      gate.setFault({ kind: 'drop', at: /BODY\.PEEK\[\]/ });
      await expect(fetchNow(ctx)).rejects.toThrow();
      expect(await refusals()).toBe(0);
    });

    it('does nothing for a deleted mailbox', async () => {
      const { ctx } = await managed([invoiceMail()]);
      const run = await beginFetch(ctx);
      await deleteInvoiceMailbox(ctx);
      await fetchTenantInvoices(ctx, {
        run,
        signal: new AbortController().signal,
        actorId: null,
        progress: () => undefined,
      });
      expect(await all(ctx)).toEqual([]);
    });

    it('writes nothing after the mailbox was changed, and leaves no file behind', async () => {
      const { ctx, name } = await managed([invoiceMail()], folders);
      const before = await files();
      gate.onCommand = async (line) => {
        if (!/BODY\.PEEK\[\]/.test(line)) return;
        gate.onCommand = null;
        await putInvoiceMailbox(ctx, mailboxForm({ ...gate, password: dovecot.password }, `${name}x`));
      };
      await fetchNow(ctx);
      expect([await all(ctx), await mailRows(ctx), await files()]).toEqual([[], 0, before]);
      expect((await dovecot.mails(name)).length).toBe(1);
      expect(await getInvoiceMailbox(ctx)).toMatchObject({ lastFetchedAt: null, lastError: null });
    });

    it.runIf(canLimitFileSize)(
      'stores nothing of a mail while the disk is full, and never skips it for that reason',
      async () => {
        const { ctx, name } = await managed([invoiceMail(), invoiceMail({ number: 'R-2' })], folders);
        const before = await files();
        const regainRoom = await limitFileSize();
        try {
          for (let n = 0; n <= mailMaxTries; n += 1)
            await expect(fetchNow(ctx)).rejects.toMatchObject({ kind: 'unavailable', cause: { code: 'EFBIG' } });
        } finally {
          await regainRoom();
        }
        expect([await all(ctx), await mailRows(ctx), await files()]).toEqual([[], 0, before]);
        expect(await dovecot.mails(name)).toHaveLength(2);
        await fetchNow(ctx);
        expect((await shown(ctx)).map(([number, state]) => [number, state])).toEqual([
          ['R-1000', 'new'],
          ['R-2', 'new'],
        ]);
        expect(await files()).toBe(before + 2);
      },
    );

    it('writes nothing more after another worker has taken it over', async () => {
      const { ctx } = await managed([invoiceMail()]);
      const run = await beginFetch(ctx);
      const overtaken = { ...run, attempt: run.attempt - 1 };
      await fetchTenantInvoices(ctx, {
        run: overtaken,
        signal: new AbortController().signal,
        actorId: null,
        progress: () => undefined,
      });
      expect([await all(ctx), await mailRows(ctx)]).toEqual([[], 0]);
    });

    it('uses bounded memory for a mailbox of ten thousand mails', { timeout: 120_000 }, async () => {
      const { ctx, name } = await managed();
      for (let n = 0; n < 10_000; n += 500)
        await Promise.all(
          Array.from({ length: 500 }, (_, k) =>
            dovecot.deliver(name, `Subject: ${n + k}\r\nMessage-ID: <${n + k}@x>\r\n\r\nx\r\n`),
          ),
        );
      await fetchNow(ctx);
      const before = process.memoryUsage().rss;
      expect(await fetchNow(ctx)).toEqual({ done: 20, total: 9_980 });
      expect((process.memoryUsage().rss - before) / MiB).toBeLessThan(100);
    });
  });

  describe('with folders', () => {
    it('mails are moved once their documents are stored; mails without documents stay', async () => {
      const bad = mailWith({ attachments: [{ name: 'x.zip', bytes: 'PK' }] });
      const { ctx, name } = await managed(
        [invoiceMail(), mailWith(), bad, invoiceMail({ note: 'duplicate' })],
        folders,
      );
      await fetchNow(ctx);
      expect((await dovecot.mails(name)).length).toBe(1);
      expect((await dovecot.mails(name, 'Verarbeitet')).length).toBe(2);
      expect((await dovecot.mails(name, 'Fehler')).map(({ bytes }) => bytes)).toEqual([bad]);
      expect((await all(ctx)).map(({ state }) => state)).toEqual(['new', 'failed', 'duplicate']);
    });

    it('a failed move is repeated, and creates no second document', async () => {
      const { ctx, name } = await managed([invoiceMail()], folders);
      gate.setFault({ kind: 'drop', at: /UID MOVE/ });
      await expect(fetchNow(ctx)).rejects.toMatchObject({ code: 'MAILBOX_UNAVAILABLE' });
      expect((await all(ctx)).length).toBe(1);
      expect((await getInvoiceMailbox(ctx)).lastError).toBe('unreachable');
      gate.setFault(null);
      await fetchNow(ctx);
      expect([(await dovecot.mails(name)).length, (await dovecot.mails(name, 'Verarbeitet')).length]).toEqual([0, 1]);
      expect((await all(ctx)).length).toBe(1);
    });

    it('a missing folder is reported, and does not stop mails from being read', async () => {
      const { ctx, name } = await managed(
        Array.from({ length: 25 }, (_, n) => invoiceMail({ number: `R-${n}` })),
        folders,
      );
      await putInvoiceMailbox(ctx, {
        ...mailboxForm({ ...gate, password: dovecot.password }, name, { processedFolder: 'Fort' }),
      });
      await expect(fetchNow(ctx)).rejects.toMatchObject({ message: expect.stringContaining('no such folder') });
      await expect(fetchNow(ctx)).rejects.toThrow();
      expect((await getInvoiceMailbox(ctx)).lastError).toBe('folderMissing');
      expect((await all(ctx)).length).toBe(25);
      await dovecot.makeFolder(name, 'Fort');
      await fetchNow(ctx);
      expect((await dovecot.mails(name, 'Fort')).length).toBe(25);
    });

    it('a mail that is put back is moved like its first copy, and creates no second document', async () => {
      const mail = invoiceMail();
      const { ctx, name } = await managed([mail], folders);
      await fetchNow(ctx);
      await dovecot.deliver(name, mail);
      await fetchNow(ctx);
      expect([(await dovecot.mails(name)).length, (await dovecot.mails(name, 'Verarbeitet')).length]).toEqual([0, 2]);
      expect((await all(ctx)).length).toBe(1);
    });
  });

  it('a mailbox that is deleted and set up again keeps its invoices and reads none of them twice', async () => {
    const { ctx, name } = await managed([invoiceMail(), invoiceMail({ number: 'R-2' })]);
    await fetchNow(ctx);
    const before = await all(ctx);
    await deleteInvoiceMailbox(ctx);
    expect(await all(ctx)).toEqual(before);
    await putInvoiceMailbox(ctx, mailboxForm({ ...gate, password: dovecot.password }, name));
    gate.takeCommands();
    await fetchNow(ctx);
    expect(await all(ctx)).toEqual(before);
    expect(gate.takeCommands().join('\n')).not.toMatch(/BODY\.PEEK\[\]/);
  });

  it('two tenants that receive the same document both have it', async () => {
    const mail = invoiceMail();
    const [one, other] = [await managed([mail]), await managed([mail])];
    await fetchNow(one.ctx);
    await fetchNow(other.ctx);
    expect([(await all(one.ctx)).length, (await all(other.ctx)).length]).toEqual([1, 1]);
    const ids = await one.ctx.read((db) => db.select({ id: invoices.id }).from(invoices));
    expect(await one.ctx.read((db) => db.$count(invoiceFiles))).toBe(1);
    await expect(getDocument(other.ctx, ids[0]?.id ?? '', 0)).rejects.toMatchObject({ kind: 'not_found' });
  });
});
