import { isIP } from 'node:net';
import type { ImapFlow, SearchObject } from 'imapflow';
import PostalMime from 'postal-mime';
import type { ImapSettings } from '@portal/domain/imap';
import type { Secret } from '@portal/domain/secret';
import { SECOND } from '@portal/domain/time';
import { type AddressPolicy, checkedAddress } from '../http/checked-address.ts';
import { failureOf, ImapFailure, type ImapStep } from './imap-failure.ts';

export interface ImapServer extends ImapSettings {
  password: Secret | null;
  /** The addresses the portal may connect to. */
  policy: AddressPolicy;
}

export interface MailboxOptions {
  folder: string;
  /** Whether mails will be moved. Otherwise the folder is opened read-only, so that not even a flag changes. */
  isWritable: boolean;
  /** Ends every call at once, with its reason. */
  signal: AbortSignal;
  /** The largest number of bytes requested at once. */
  maxMailBytes?: number;
  timeouts?: typeof defaultTimeouts;
}

/** What is known of a mail before it is read. Values written by its sender are unchecked. */
export interface MailHead {
  uid: number;
  sizeBytes: number;
  receivedAt: Date;
  messageId: string | null;
  /** The `Date` header. */
  date: Date | null;
  from: string | null;
  subject: string | null;
}

/** An open folder of a mail server. Every call throws an ImapFailure, or the signal's reason. */
export interface Mailbox extends Disposable {
  /** While it stays the same, a UID always names the same mail. */
  uidValidity: string;
  /** The UID of the next mail; null if the server does not say. */
  uidNext: number | null;
  /** The UIDs from this one on, ascending. */
  uidsFrom(uid: number): Promise<number[]>;
  /** The UIDs of mails that arrived on the day of this instant or later, ascending. */
  uidsSince(day: Date): Promise<number[]>;
  /** Those of these mails that still exist, ascending. Ask for a few hundred at most. */
  heads(uids: number[]): Promise<MailHead[]>;
  /** A mail, without marking it as read; null if it is gone. Returns at most `maxBytes` + 1 bytes. */
  bytes(uid: number, maxBytes: number): Promise<Buffer | null>;
  hasFolder(folder: string): Promise<boolean>;
  /** Moves mails to another folder; those that are gone already count as moved. */
  move(uids: number[], folder: string): Promise<void>;
}

/** The client would wait for minutes. */
const defaultTimeouts = { connectionTimeout: 15 * SECOND, greetingTimeout: 10 * SECOND, socketTimeout: 30 * SECOND };

const MiB = 1024 * 1024;
const KiB = 1024;
/** A line without its literals. The client parses a line in one go, which takes a second per megabyte. */
const lineBytes = 64 * KiB;
/** The most a server may send for one call, in addition to the bytes of a requested mail. */
const answerBytes = { read: 2 * MiB, other: 256 * KiB };
/** Longer headers are cut off, so that a header of megabytes cannot block its batch. */
const headerBytes = 16 * KiB;
/** Mails per search. Their UIDs, ten digits and a blank each, fit into a line. */
const mailsPerSearch = 5_000;
/** Searches per list, enough for two million mails. The mail count comes from the server and cannot be trusted. */
const maxSearches = 400;
/** How often the received bytes are compared with the limit. */
const watchIntervalMs = 50;
const maxUid = 2 ** 32 - 1;

/** Signs in and opens a folder. The host is resolved and checked once; TLS still verifies its name. */
export async function openMailbox(server: ImapServer, options: MailboxOptions): Promise<Mailbox> {
  const { folder, isWritable } = options;
  const client = await connected(server, options);
  try {
    const opened = await client.call('open', (flow) => flow.mailboxOpen(folder, { readOnly: !isWritable }));
    if (!opened || !opened.uidValidity)
      throw new ImapFailure('protocol', server, 'does not assign permanent ids to its mails.');
    return mailboxOf(client, server, String(opened.uidValidity), opened.uidNext > 0 ? opened.uidNext : null);
  } catch (error) {
    client.close();
    throw error;
  }
}

function mailboxOf(client: Client, server: ImapServer, uidValidity: string, uidNext: number | null): Mailbox {
  async function hasFolder(folder: string): Promise<boolean> {
    try {
      return Boolean(await client.call('open', (flow) => flow.status(folder, { uidValidity: true })));
    } catch (error) {
      if (error instanceof ImapFailure && (error.cause as { code?: string } | null)?.code === 'NotFound') return false;
      throw error;
    }
  }

  /**
   * The UIDs from `least` on that the query finds, ascending. Searches in portions, the newest mails first, because the answer to a
   * search is a single line.
   */
  async function uidsOf(
    query: SearchObject,
    least: number,
    { isAscending }: { isAscending: boolean },
  ): Promise<number[]> {
    const uids = new Set<number>();
    let to = client.mailCount();
    for (let searches = 0; to > 0; searches += 1) {
      if (searches === maxSearches) throw new ImapFailure('protocol', server, 'has more mails than can be listed.');
      const from = Math.max(1, to - mailsPerSearch + 1);
      const seq = `${from}:${to}`;
      const found = await client.call('read', (flow) => flow.search({ seq, ...query }, { uid: true }));
      if (!Array.isArray(found)) throw new ImapFailure('protocol', server, 'could not list its mails.');
      const wanted = found.filter((one) => Number.isInteger(one) && one >= least && one <= maxUid);
      if (wanted.length === 0 && isAscending) break;
      for (const uid of wanted) uids.add(uid);
      to = from - 1;
    }
    return [...uids].toSorted((a, b) => a - b);
  }

  return {
    uidValidity,
    uidNext,
    // If no UID is that high, `*` matches the last mail before it. UIDs ascend with the order of the mails (RFC 9051, 2.3.1.1).
    uidsFrom: (uid) => uidsOf({ uid: `${uid}:*` }, uid, { isAscending: true }),
    uidsSince: (day) => uidsOf({ since: day }, 1, { isAscending: false }),
    async heads(uids) {
      if (uids.length === 0) return [];
      const asked = new Set(uids);
      const found = await client.call('read', (flow) =>
        flow.fetchAll(
          uids.join(','),
          {
            uid: true,
            size: true,
            internalDate: true,
            bodyParts: [{ key: 'header', start: 0, maxLength: headerBytes }],
          },
          { uid: true },
        ),
      );
      const heads = new Map<number, MailHead>();
      for (const { uid, size, headers, internalDate } of found) {
        if (!asked.has(uid) || size === undefined) continue;
        const fields = await headerFieldsOf(headers);
        heads.set(uid, { uid, sizeBytes: size, receivedAt: dateOf(internalDate) ?? new Date(), ...fields });
      }
      return uids.flatMap((uid) => heads.get(uid) ?? []);
    },
    async bytes(uid, maxBytes) {
      const found = await client.call(
        'read',
        (flow) =>
          flow.fetchOne(String(uid), { uid: true, source: { start: 0, maxLength: maxBytes + 1 } }, { uid: true }),
        maxBytes,
      );
      return found && found.uid === uid ? (found.source ?? null) : null;
    },
    hasFolder,
    async move(uids, folder) {
      if (uids.length === 0) return;
      const range = uids.join(',');
      const canMove = client.capabilities.has('MOVE');
      // Without UIDPLUS, EXPUNGE would also delete mails that other clients have marked.
      if (!canMove && !client.capabilities.has('UIDPLUS')) {
        throw new ImapFailure('protocol', server, 'can neither move mails nor delete individual mails.');
      }
      const isMoved = await client.call('move', async (flow) => {
        if (canMove) return Boolean(await flow.messageMove(range, folder, { uid: true }));
        // An earlier attempt has copied the marked mails; its connection broke before the deletion. If it broke before the mark, the
        // target folder gets a second copy.
        const before = await flow.fetchAll(range, { uid: true, flags: true }, { uid: true });
        const uncopied = before.filter(({ flags }) => !flags?.has('\\Deleted')).map(({ uid }) => uid);
        if (uncopied.length > 0 && !(await flow.messageCopy(uncopied.join(','), folder, { uid: true }))) return false;
        return before.length === 0 || (await flow.messageDelete(range, { uid: true }));
      });
      if (isMoved) return;
      if (!(await hasFolder(folder)))
        throw new ImapFailure('folderMissing', server, 'has no such folder to move mails to.');
      throw new ImapFailure('protocol', server, 'refused to move mails.');
    },
    [Symbol.dispose]: () => client.close(),
  };
}

/** The header fields of the sender, from the beginning of the header. */
async function headerFieldsOf(
  header: Buffer | undefined,
): Promise<Pick<MailHead, 'messageId' | 'date' | 'from' | 'subject'>> {
  try {
    const { messageId, date, from, subject } = await PostalMime.parse(
      (header ?? Buffer.alloc(0)).subarray(0, headerBytes),
    );
    return { messageId: messageId ?? null, date: dateOf(date), from: from?.address ?? null, subject: subject ?? null };
  } catch {
    return { messageId: null, date: null, from: null, subject: null };
  }
}

const dateOf = (value: unknown): Date | null => {
  const date = value instanceof Date ? value : new Date(typeof value === 'string' ? value : Number.NaN);
  return Number.isNaN(date.getTime()) ? null : date;
};

const ignore = (): void => undefined;

interface Client {
  capabilities: Map<string, boolean | number>;
  /** Mails in the open folder, as the server says. */
  mailCount(): number;
  /** Runs one step. The client does not throw every failure, so an ended connection counts as one. */
  call<T>(step: ImapStep, work: (flow: ImapFlow) => Promise<T>, moreBytes?: number): Promise<T>;
  close(): void;
}

async function connected(
  server: ImapServer,
  { signal, maxMailBytes = 0, timeouts = defaultTimeouts }: MailboxOptions,
): Promise<Client> {
  const { host, port, security, username, password, caCertificatePem } = server;
  // Imported on demand: it takes 0.16 s and 20 MB, which a worker without mailboxes does not need.
  const { ImapFlow } = await import('imapflow');
  signal.throwIfAborted();
  if (password === null) throw new ImapFailure('unauthorized', server, 'was not asked, because no password is stored.');
  const resolving = AbortSignal.any([signal, AbortSignal.timeout(timeouts.connectionTimeout)]);
  const { lookup } = await checkedAddress(host, port, server.policy, resolving).catch((error: unknown) => {
    signal.throwIfAborted();
    throw failureOf(resolving.aborted ? { code: 'CONNECT_TIMEOUT' } : error, server, 'connect');
  });
  const flow = new ImapFlow({
    ...timeouts,
    host,
    port,
    secure: security === 'tls',
    doSTARTTLS: security === 'starttls',
    ...(isIP(host) === 0 && { servername: host }),
    auth: { user: username, pass: password.reveal() },
    // Passed on to the socket, with or without TLS.
    tls: { lookup, ...(caCertificatePem !== null && { ca: caCertificatePem }) },
    // The client logs input that it cannot parse.
    logger: { debug: ignore, info: ignore, warn: ignore, error: (entry) => entry.src === 's' && rejectGreeting() },
    disableAutoIdle: true,
    // Neither is worth a round trip for a few mails, and compressed bytes cannot be counted against the limit.
    disableCompression: true,
    disableAutoEnable: true,
    maxLineLength: lineBytes,
    maxLiteralSize: Math.max(headerBytes, maxMailBytes + 1),
    maxResponseSize: Math.max(headerBytes, maxMailBytes + 1) + 2 * lineBytes,
  });
  /** Why the connection ended, if only an event says so. */
  let failure: unknown = null;
  flow.on('error', (error: unknown) => (failure ??= error));
  // A tagged response before any command is not a greeting.
  flow.on('response', rejectGreeting);
  /** Ends the connection if the server greets like an SMTP or HTTP server. Does nothing after the first command. */
  function rejectGreeting(): void {
    if (flow.stats().sent > 0) return;
    failure ??= new ImapFailure('protocol', server, 'did not answer like a mail server.');
    flow.close();
  }
  const abort = () => flow.close();
  signal.addEventListener('abort', abort, { once: true });

  async function call<T>(step: ImapStep, work: (client: ImapFlow) => Promise<T>, moreBytes = 0): Promise<T> {
    signal.throwIfAborted();
    const receivedBefore = flow.stats().received;
    const maxAnswerBytes = (step === 'read' ? answerBytes.read : answerBytes.other) + moreBytes;
    const watch = setInterval(() => {
      if (flow.stats().received - receivedBefore <= maxAnswerBytes) return;
      failure ??= new ImapFailure('protocol', server, 'sends more data than was requested.');
      flow.close();
    }, watchIntervalMs);
    try {
      const result = await work(flow);
      if (failure !== null || (step !== 'connect' && !flow.usable)) throw failure ?? { code: 'NoConnection' };
      return result;
    } catch (error) {
      signal.throwIfAborted();
      throw failureOf(failure ?? error, server, step);
    } finally {
      clearInterval(watch);
    }
  }

  function close(): void {
    signal.removeEventListener('abort', abort);
    flow.close();
  }

  try {
    await call('connect', (client) => client.connect());
  } catch (error) {
    close();
    throw error;
  }
  return { capabilities: flow.capabilities, mailCount: () => (flow.mailbox ? flow.mailbox.exists : 0), call, close };
}
