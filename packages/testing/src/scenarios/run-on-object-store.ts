import { setTimeout as pause } from 'node:timers/promises';
import { isNotNull } from 'drizzle-orm';
import { newId } from '@portal/domain/ids';
import { sweepOrphanFiles } from '@portal/platform/files/sweep-orphans';
import { areas } from '@portal/usecases/areas';
import { pngIcon } from '../icons.ts';
import { mailboxForm, mailWith, ublInvoice } from '../invoices.ts';
import { pdfOf, pdfPages, pdfStream } from '../pdf.ts';
import { tinyPng } from '../pictures.ts';
import { startDovecot } from '../servers/dovecot.ts';
import type { RunningStore } from '../servers/swift.ts';
import { openTcpGate } from '../servers/tcp-gate.ts';
import { startStack, waitUntil } from './stack.ts';
import { contentOf, type Findings, MiB, readStored, sha256 } from './stored-files.ts';

/** A picture, as its owner knows it. */
interface Picture {
  id: string;
  sha256: string;
}

interface Caller {
  cookie: string;
  pictures: Picture[];
}

const prefix = 'product';
const mailboxUser = 'rechnung';
/** After the store is back, refusals may go on for this long: a client pauses between its tries. */
const settlingMs = 5_000;

/**
 * Runs API and worker on an object store that is killed, hangs and returns while people upload, read and delete, and while invoices arrive. Calls
 * that need the store answer 503 with Retry-After meanwhile, all others as always. Nothing that was confirmed is lost or changed, and after
 * a sweep each object belongs to a row.
 */
export async function runOnObjectStore({
  store,
  outages,
  awayMs,
  calmMs,
  say,
}: {
  store: RunningStore;
  /** The first kills the store, the next lets it hang, and so on. */
  outages: number;
  /** Length of an outage, and of the time before each. */
  awayMs: number;
  calmMs: number;
  say: (line: string) => void;
}): Promise<Findings> {
  const env = store.env(prefix);
  const endpoint = new URL(env['FILES_URL'] ?? '').searchParams.get('endpoint') ?? '';
  const gate = await openTcpGate(endpoint);
  const dovecot = await startDovecot();
  const stack = await startStack({
    settings: { ...env, FILES_URL: (env['FILES_URL'] ?? '').replace(endpoint, new URL(gate.url).origin) },
  });
  const violations: string[] = [];
  const counts = {
    'pictures stored': 0,
    'pictures read': 0,
    'pictures deleted': 0,
    'avatars stored': 0,
    'invoice documents': 0,
    'MiB read': 0,
    'refused while the store was away': 0,
    'downloads cut by an outage': 0,
    outages: 0,
    'files without a row, swept': 0,
  };
  /** Grows with each outage and each return, so that a call knows whether the store was there all along. */
  let change = 0;
  let isStoreUp = true;
  const setStoreUp = (isUp: boolean) => {
    isStoreUp = isUp;
    change += 1;
  };

  /** Calls the API; null if the call was refused in a way that is allowed at this time. */
  async function call(
    caller: { cookie: string },
    method: string,
    path: string,
    body?: FormData,
  ): Promise<Buffer | null> {
    const before = change;
    const wasUp = isStoreUp;
    const isCalm = () => wasUp && change === before;
    const answer = await fetch(stack.api().url + path, {
      method,
      headers: { cookie: caller.cookie },
      ...(body && { body }),
      signal: AbortSignal.timeout(60_000),
    }).catch((error: unknown) => void violations.push(`${method} ${path}: ${String(error)}`));
    if (!answer) return null;
    try {
      const bytes = Buffer.from(await answer.arrayBuffer());
      if (answer.ok) return bytes;
      if (answer.status !== 503) violations.push(`${method} ${path}: ${answer.status} ${bytes.toString()}`);
      else if (answer.headers.get('retry-after') === null)
        violations.push(`${method} ${path}: 503 without Retry-After`);
      else if (isCalm()) violations.push(`${method} ${path}: 503 while the store was up`);
      else counts['refused while the store was away'] += 1;
    } catch (error) {
      if (isCalm() || method !== 'GET') violations.push(`${method} ${path}: ${String(error)}`);
      else counts['downloads cut by an outage'] += 1;
    }
    return null;
  }

  async function upload(caller: Caller): Promise<void> {
    const name = newId();
    // A PNG may have anything after its end; the portal stores a picture unchanged.
    const picture = Buffer.concat([tinyPng, contentOf(name, 1 + (parseInt(name.slice(-6), 16) % (4 * MiB)))]);
    const stored = await call(caller, 'POST', '/dashboard/images', formOf('image', picture));
    if (stored === null) return;
    const { id } = JSON.parse(stored.toString()) as { id: string };
    caller.pictures.push({ id, sha256: sha256(picture) });
    counts['pictures stored'] += 1;
  }

  async function download(caller: Caller, picture: Picture): Promise<boolean> {
    const bytes = await call(caller, 'GET', `/dashboard/images/${picture.id}`);
    if (bytes === null) return false;
    counts['pictures read'] += 1;
    counts['MiB read'] += bytes.length / MiB;
    if (sha256(bytes) !== picture.sha256) violations.push(`the picture ${picture.id} has other bytes`);
    return true;
  }

  async function setAvatar(caller: Caller, shade: number): Promise<void> {
    const stored = await call(caller, 'POST', '/users/me/avatar', formOf('file', pngIcon({ side: 64, shade })));
    if (stored !== null) counts['avatars stored'] += 1;
    const shown = counts['avatars stored'] === 0 ? null : await call(caller, 'GET', '/users/me/avatar');
    if (shown !== null && shown.readUInt32LE(4) !== shown.length - 8) violations.push('an avatar is no whole WebP');
  }

  /** Uploads, reads, deletes. */
  async function useFiles(caller: Caller, signal: AbortSignal): Promise<void> {
    for (let n = 0; !signal.aborted; n += 1) {
      await upload(caller);
      const picture = caller.pictures[n % Math.max(1, caller.pictures.length)];
      if (picture) await download(caller, picture);
      if (n % 5 === 0) await setAvatar(caller, n % 250);
      if (caller.pictures.length > 12 && (await remove(caller))) counts['pictures deleted'] += 1;
      await pause(20);
    }
  }

  async function remove(caller: Caller): Promise<boolean> {
    const [oldest] = caller.pictures;
    if (!oldest || (await call(caller, 'DELETE', `/dashboard/images/${oldest.id}`)) === null) return false;
    caller.pictures.shift();
    return true;
  }

  const documents = new Set<string>();

  /** Delivers a mail with an XML and a large PDF. */
  async function deliverInvoice(): Promise<void> {
    const number = `R-${documents.size}`;
    const catalog = '<< /Type /Catalog /Pages 2 0 R >>';
    const pdf = pdfOf([catalog, pdfPages, pdfStream(contentOf(number, 10 * MiB))]);
    const xml = Buffer.from(ublInvoice({ number }));
    for (const bytes of [pdf, xml]) documents.add(sha256(bytes));
    const attachments = [
      { name: `${number}.xml`, bytes: xml },
      { name: `${number}.pdf`, bytes: pdf },
    ];
    await dovecot.deliver(mailboxUser, mailWith({ attachments }));
  }

  async function receiveInvoices(): Promise<void> {
    for (const folder of ['INBOX', 'Verarbeitet', 'Fehler']) await dovecot.makeFolder(mailboxUser, folder);
    const folders = { processedFolder: 'Verarbeitet', failedFolder: 'Fehler', isActive: true };
    const form = mailboxForm(dovecot, mailboxUser, folders);
    const { status, body } = await stack.ask('/invoices/mailbox', form, { method: 'PUT' });
    if (status !== 200) violations.push(`the mailbox was refused: ${status} ${body}`);
    await deliverInvoice();
  }

  /** Waits until the worker has fetched all invoices, and reads their documents. */
  async function readInvoices(): Promise<void> {
    const isFetched = async () => {
      await stack.ask('/invoices/fetch', undefined, { method: 'POST' });
      await pause(2_000);
      return (await dovecot.mails(mailboxUser)).length === 0;
    };
    if ((await waitUntil(isFetched, 180_000)) === Infinity) violations.push('invoices stayed in the mailbox');
    const { body } = await stack.ask('/invoices?limit=200');
    for (const { id, files } of JSON.parse(body) as { id: string; files: unknown[] }[]) {
      for (const n of files.keys()) {
        const bytes = await call(stack, 'GET', `/invoices/${id}/document?file=${n}`);
        if (bytes === null || !documents.has(sha256(bytes)))
          violations.push(`a document of the invoice ${id} is wrong`);
        else documents.delete(sha256(bytes));
        counts['invoice documents'] += 1;
      }
    }
    if (documents.size > 0) violations.push(`${documents.size} documents of invoices are lost`);
  }

  /** Lets the store vanish, or hang, and return. */
  async function outage(kind: 'killed' | 'hanging'): Promise<void> {
    setStoreUp(false);
    if (kind === 'killed') await store.halt();
    else {
      await gate.shut();
      gate.hold();
      await gate.open();
    }
    counts.outages += 1;
    const refusedBefore = counts['refused while the store was away'];
    await deliverInvoice();
    await stack.ask('/invoices/fetch', undefined, { method: 'POST' });
    await pause(awayMs);
    if (counts['refused while the store was away'] === refusedBefore) violations.push(`${kind}: no call was refused`);
    if (kind === 'killed') await store.resume();
    else gate.letGo();
    const returnedAt = performance.now();
    const prober: Caller = { cookie: stack.cookie, pictures: [] };
    const isBack = async () => {
      await upload(prober);
      return prober.pictures.length > 0;
    };
    const backMs = await waitUntil(isBack, 30_000);
    if (backMs === Infinity) violations.push(`${kind}: nothing could be stored 30 s after the store was back`);
    await remove(prober);
    await pause(Math.max(0, settlingMs - (performance.now() - returnedAt)));
    setStoreUp(true);
    say(`${kind} for ${(awayMs / 1_000).toFixed(0)} s, stored again after ${backMs.toFixed(0)} ms`);
  }

  async function judgeCaller(caller: Caller): Promise<void> {
    const listed = await call(caller, 'GET', '/dashboard/images');
    const ids = (JSON.parse(listed?.toString() ?? '[]') as { id: string }[]).map(({ id }) => id);
    if (
      ids.toSorted().join() !==
      caller.pictures
        .map(({ id }) => id)
        .toSorted()
        .join()
    )
      violations.push(`a caller sees ${ids.length} pictures instead of ${caller.pictures.length}`);
    for (const picture of caller.pictures)
      if (!(await download(caller, picture))) violations.push(`the picture ${picture.id} is lost`);
  }

  /** Every path in a row has its whole file, and after a sweep every object has its row. */
  async function judgeStore(): Promise<void> {
    const system = stack.runtime.system({ requestId: 'soak', ip: null, userAgent: null });
    const owners = areas.flatMap(({ files = [] }) => files);
    const named = new Set<string>();
    for (const { table, path } of owners) {
      const rows = await system.acrossTenants('the soak reads the paths of files', (tx) =>
        tx.select({ path }).from(table).where(isNotNull(path)),
      );
      for (const row of rows) named.add(String(row.path));
    }
    for (const path of named) {
      const stored = await readStored(system.files, path);
      if (stored === null || stored.readBytes !== stored.sizeBytes)
        violations.push(`a row names ${path}, which is not there`);
    }
    const files = { ...system.files, list: (folder: string) => system.files.list(folder, 0) };
    const swept = await sweepOrphanFiles({ ...system, files }, owners, new AbortController().signal);
    counts['files without a row, swept'] = swept;
    const isSwept = async () =>
      (await store.keys(`${prefix}/`)).every((key) => named.has(key.slice(prefix.length + 1))) &&
      (await store.uploads()).length === 0;
    if ((await waitUntil(isSwept, 30_000)) === Infinity) violations.push('after the sweep an object has no row');
  }

  try {
    await receiveInvoices();
    const tenant = await stack.make.tenant();
    const newCaller = async (): Promise<Caller> => ({
      cookie: await stack.cookieOf(await stack.make.user({ tenantId: tenant.id })),
      pictures: [],
    });
    const callers = await Promise.all([newCaller(), newCaller(), newCaller()]);
    const others = await stack.callers(2, { thinkMs: () => 50 });
    const ending = new AbortController();
    const using = callers.map((caller) => useFiles(caller, ending.signal));
    for (let n = 0; n < outages; n += 1) {
      await pause(calmMs);
      await outage(n % 2 === 0 ? 'killed' : 'hanging');
    }
    await pause(calmMs);
    ending.abort();
    await Promise.all([...using, others.stop()]);

    for (const [status, count] of Object.entries(others.stats.statuses))
      if (!['200', '201', '204'].includes(status))
        violations.push(`${count} calls that need no file answered ${status}`);
    for (const caller of callers) await judgeCaller(caller);
    await readInvoices();
    await judgeStore();
    return { counts, violations };
  } finally {
    gate.letGo();
    await stack.close();
    await dovecot.stop();
    await gate.shut();
  }
}

function formOf(field: string, bytes: Buffer): FormData {
  const form = new FormData();
  form.append(field, new Blob([new Uint8Array(bytes)]), 'soak.png');
  return form;
}
