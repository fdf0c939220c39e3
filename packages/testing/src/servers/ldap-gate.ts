import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { type LdapMessage, MessageSplitter, operation, parseMessage } from '@portal/connectors/ldap/messages';
import { parseSearch, request, searchDone, searchEntry } from './ldap-wire.ts';

/** A fault at a page of a paged search. Pages count over all connections since the fault was set. */
export type LdapFault =
  /** The answer is this result code instead of the entries of the page. */
  | { kind: 'result'; page: number; code: number; referrals?: string[] }
  /** The first entries of the page arrive, then the connection breaks. */
  | { kind: 'reset'; page: number; afterEntries?: number }
  /** The first entries of the page arrive, then nothing more on the open connection. */
  | { kind: 'stall'; page: number; afterEntries?: number }
  /** Half of a message arrives, then nothing more. */
  | { kind: 'half-message'; page: number }
  /** Every paged search succeeds and finds nothing. */
  | { kind: 'empty' }
  /** The same page, with one made-up entry, repeats forever. */
  | { kind: 'same-page' }
  /** Every page is empty and has a cookie for a next page. */
  | { kind: 'empty-pages' };

export interface LdapGate {
  /** Address of the gate; unencrypted. */
  url: string;
  setFault(fault: LdapFault | null): void;
  /** Number of requested pages since the fault was set. */
  pageCount(): number;
  connectionCount(): number;
  stop(): Promise<void>;
}

/** Opens a proxy to an LDAP server that can fail at a chosen point of the protocol. */
export async function openLdapGate(targetUrl: string): Promise<LdapGate> {
  const { hostname, port } = new URL(targetUrl);
  const sockets = new Set<Socket>();
  let fault: LdapFault | null = null;
  let pages = 0;

  const server = createServer((client) => {
    const target = connect(Number(port), hostname);
    // The page of a search, by its message id
    const pageOf = new Map<number, number>();
    let entries = 0;
    let isSilent = false;
    const requests = new MessageSplitter();
    const answers = new MessageSplitter();
    for (const socket of [client, target]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        target.destroy();
      });
    }

    client.on('data', (chunk: Buffer) => {
      for (const bytes of requests.push(chunk)) {
        const message = parseMessage(bytes);
        if (message.operation === request.search && parseSearch(message).page !== null) {
          pages += 1;
          entries = 0;
          pageOf.set(message.id, pages);
          const instead = answerInstead(fault, message, pages);
          if (instead !== null) {
            client.write(instead);
            continue;
          }
        }
        target.write(bytes);
      }
    });

    target.on('data', (chunk: Buffer) => {
      for (const bytes of answers.push(chunk)) {
        const message = parseMessage(bytes);
        const page = pageOf.get(message.id);
        if (isSilent || client.destroyed) return;
        if (page !== undefined && fault !== null && breaksOff(fault, message, page, entries)) {
          if (fault.kind === 'reset') client.resetAndDestroy();
          if (fault.kind === 'half-message') client.write(bytes.subarray(0, bytes.length / 2));
          isSilent = true;
          return;
        }
        if (message.operation === operation.searchEntry) entries += 1;
        client.write(bytes);
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  let connectionCount = 0;
  server.on('connection', () => (connectionCount += 1));

  return {
    url: `ldap://127.0.0.1:${(server.address() as AddressInfo).port}`,
    setFault(next) {
      fault = next;
      pages = 0;
    },
    pageCount: () => pages,
    connectionCount: () => connectionCount,
    async stop() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

function answerInstead(fault: LdapFault | null, { id }: LdapMessage, page: number): Buffer | null {
  switch (fault?.kind) {
    case 'result':
      return page === fault.page
        ? searchDone(id, { code: fault.code, ...(fault.referrals ? { referrals: fault.referrals } : {}) })
        : null;
    case 'empty':
      return searchDone(id, { code: 0, cookie: Buffer.alloc(0) });
    case 'same-page':
      return Buffer.concat([
        searchEntry(id, 'cn=again', [['cn', [Buffer.from('again')]]]),
        searchDone(id, { code: 0, cookie: Buffer.from('again') }),
      ]);
    case 'empty-pages':
      return searchDone(id, { code: 0, cookie: Buffer.from('more') });
    default:
      return null;
  }
}

function breaksOff(fault: LdapFault, message: LdapMessage, page: number, entries: number): boolean {
  switch (fault.kind) {
    case 'reset':
    case 'stall':
      return (
        page === fault.page && (entries >= (fault.afterEntries ?? 3) || message.operation === operation.searchDone)
      );
    case 'half-message':
      return page === fault.page;
    default:
      return false;
  }
}
