import { isIP } from 'node:net';
import { ImapFlow, type SearchObject } from 'imapflow';
import PostalMime from 'postal-mime';
import type { ImapSettings } from '@portal/domain/imap';
import type { Secret } from '@portal/domain/secret';
import { SECOND } from '@portal/domain/time';
import { type AddressPolicy, checkedAddress } from '../http/checked-address.ts';
import { failureOf, ImapFailure, type ImapStep } from './imap-failure.ts';

export interface ImapServer extends ImapSettings {
  password: Secret | null;
  /** Which addresses it may have. */
  policy: AddressPolicy;
}

export interface MailboxOptions {
  folder: string;
  /** Mails are going to be moved; otherwise the folder is opened so that nothing in it can change, not even a flag. */
  isWritable: boolean;
  /** Ends everything under way at once, with its reason. */
  signal: AbortSignal;
  /** The most bytes that are going to be asked for at once. */
  maxMailBytes?: number;
  timeouts?: typeof usualTimeouts;
}

/** What is known of a mail before it is read. What its sender wrote is as it came, and may be anything. */
export interface MailHead {
  uid: number;
  sizeBytes: number;
  receivedAt: Date;
  messageId: string | null;
  /** As the mail says. */
  date: Date | null;
  from: string | null;
  subject: string | null;
}

/** A folder of a mail server while it is open. Every call throws an ImapFailure, or the signal's reason. */
export interface Mailbox extends Disposable {
  /** As long as it stays the same, a UID names the same mail. */
  uidValidity: string;
  /** The UID the next mail will get; null where the server does not say. */
  uidNext: number | null;
  /** The UIDs from this one on, ascending. */
  uidsFrom(uid: number): Promise<number[]>;
  /** The UIDs of mails that arrived on the day of this instant or later, ascending. */
  uidsSince(day: Date): Promise<number[]>;
  /** What of these is still there, ascending. Ask for some hundred at most. */
  heads(uids: number[]): Promise<MailHead[]>;
  /** A mail, without a trace that it was read; null when it is gone, and no more than one byte beyond `maxBytes`. */
  bytes(uid: number, maxBytes: number): Promise<Buffer | null>;
  hasFolder(folder: string): Promise<boolean>;
  /** Moves mails to another folder; those that are gone already count as moved. */
  move(uids: number[], folder: string): Promise<void>;
}

/** The client waits for minutes by itself. */
const usualTimeouts = { connectionTimeout: 15 * SECOND, greetingTimeout: 10 * SECOND, socketTimeout: 30 * SECOND };

const MiB = 1024 * 1024;
const KiB = 1024;
/** A line of a server, without its literals. The client parses it in one go, which takes a second for each megabyte. */
const lineBytes = 64 * KiB;
/** What a server may send in answer to one call. Bytes of a mail that was asked for come on top. */
const answerBytes = { read: 2 * MiB, other: 256 * KiB };
/** A header with megabytes is cut off here, so that its batch can be read at all. */
const headerBytes = 16 * KiB;
/** Mails of one search. Their UIDs, ten digits and a blank each, fit into a line. */
const searchedMails = 5_000;
/** Searches of one list, for two million mails. The server says how many mails there are, and may say anything. */
const maxSearches = 400;
/** How often it is looked whether it sends more. */
const lookMs = 50;
const maxUid = 2 ** 32 - 1;

/** Signs in and opens a folder. The name is looked up and checked once, and stays the server name of TLS. */
export async function openMailbox(server: ImapServer, options: MailboxOptions): Promise<Mailbox> {
  const { folder, isWritable } = options;
  const client = await connected(server, options);
  try {
    const opened = await client.call('open', (flow) => flow.mailboxOpen(folder, { readOnly: !isWritable }));
    if (!opened || !opened.uidValidity) throw new ImapFailure('protocol', server, 'does not name its mails for good.');
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
   * The UIDs from `least` on that the query finds, ascending. Asks for the mails in portions, the newest first, because the answer to
   * a search is a single line.
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
      const from = Math.max(1, to - searchedMails + 1);
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
    // Of an empty rest, `*` is the last mail before it. UIDs ascend with the order of the mails (RFC 9051, 2.3.1.1).
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
        const told = await toldBy(headers);
        heads.set(uid, { uid, sizeBytes: size, receivedAt: dateOf(internalDate) ?? new Date(), ...told });
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
      // Without it, EXPUNGE would take along what somebody else has marked.
      if (!canMove && !client.capabilities.has('UIDPLUS')) {
        throw new ImapFailure('protocol', server, 'can neither move mails nor remove chosen ones.');
      }
      const isMoved = await client.call('move', async (flow) => {
        if (canMove) return Boolean(await flow.messageMove(range, folder, { uid: true }));
        // What was marked before has been copied: the connection broke in between.
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

/** What the sender says in the beginning of a header. */
async function toldBy(header: Buffer | undefined): Promise<Pick<MailHead, 'messageId' | 'date' | 'from' | 'subject'>> {
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
  /** One conversation with the server. The client keeps some failures to itself, and so an end of the connection is asked for. */
  call<T>(step: ImapStep, work: (flow: ImapFlow) => Promise<T>, moreBytes?: number): Promise<T>;
  close(): void;
}

async function connected(
  server: ImapServer,
  { signal, maxMailBytes = 0, timeouts = usualTimeouts }: MailboxOptions,
): Promise<Client> {
  const { host, port, security, username, password, caCertificatePem } = server;
  signal.throwIfAborted();
  if (password === null) throw new ImapFailure('unauthorized', server, 'was not asked, because no password is kept.');
  const looking = AbortSignal.any([signal, AbortSignal.timeout(timeouts.connectionTimeout)]);
  const { lookup } = await checkedAddress(host, port, server.policy, looking).catch((error: unknown) => {
    signal.throwIfAborted();
    throw failureOf(looking.aborted ? { code: 'CONNECT_TIMEOUT' } : error, server, 'connect');
  });
  const flow = new ImapFlow({
    ...timeouts,
    host,
    port,
    secure: security === 'tls',
    doSTARTTLS: security === 'starttls',
    ...(isIP(host) === 0 && { servername: host }),
    auth: { user: username, pass: password.reveal() },
    // Handed on to the socket, whether it speaks TLS or not.
    tls: { lookup, ...(caCertificatePem !== null && { ca: caCertificatePem }) },
    // It logs what it hears that cannot be parsed.
    logger: { debug: ignore, info: ignore, warn: ignore, error: (entry) => entry.src === 's' && hearNoImap() },
    disableAutoIdle: true,
    // Neither is worth its round trip for some mails, and what unfolds cannot be counted as it comes.
    disableCompression: true,
    disableAutoEnable: true,
    maxLineLength: lineBytes,
    maxLiteralSize: Math.max(headerBytes, maxMailBytes + 1),
    maxResponseSize: Math.max(headerBytes, maxMailBytes + 1) + 2 * lineBytes,
  });
  /** Why it ended, where that is known only by an event. */
  let trouble: unknown = null;
  flow.on('error', (error: unknown) => (trouble ??= error));
  // A line with a tag answers a command.
  flow.on('response', hearNoImap);
  /** Ends the connection where nothing was sent yet: IMAP servers greet in another way than those of SMTP and HTTP. */
  function hearNoImap(): void {
    if (flow.stats().sent > 0) return;
    trouble ??= new ImapFailure('protocol', server, 'did not answer as a mail server does.');
    flow.close();
  }
  const abort = () => flow.close();
  signal.addEventListener('abort', abort, { once: true });

  async function call<T>(step: ImapStep, work: (client: ImapFlow) => Promise<T>, moreBytes = 0): Promise<T> {
    signal.throwIfAborted();
    const begun = flow.stats().received;
    const maxTrialBytes = (step === 'read' ? answerBytes.read : answerBytes.other) + moreBytes;
    const look = setInterval(() => {
      if (flow.stats().received - begun <= maxTrialBytes) return;
      trouble ??= new ImapFailure('protocol', server, 'sends more than was asked for.');
      flow.close();
    }, lookMs);
    try {
      const result = await work(flow);
      if (trouble !== null || (step !== 'connect' && !flow.usable)) throw trouble ?? { code: 'NoConnection' };
      return result;
    } catch (error) {
      signal.throwIfAborted();
      throw failureOf(trouble ?? error, server, step);
    } finally {
      clearInterval(look);
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
