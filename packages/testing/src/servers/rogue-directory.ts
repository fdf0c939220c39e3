import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { type LdapMessage, MessageSplitter, parseMessage } from '@portal/connectors/ldap/messages';
import {
  type BindFields,
  bindResponse,
  type FilterNode,
  parseBind,
  parseSearch,
  request,
  searchDone,
  searchEntry,
} from './ldap-wire.ts';
import type { TestEntry } from './slapd.ts';

export interface RogueDirectory {
  url: string;
  baseDn: string;
  /** All received credentials, in order of arrival. */
  binds: BindFields[];
  connections(): number;
  /** Number of searches for people. */
  readings(): number;
  /** Its people and groups, each with an `entryUUID`. Entries in `elsewhere` are only found by their DN. */
  setEntries(entries: { people: TestEntry[]; groups?: TestEntry[]; elsewhere?: TestEntry[] }): void;
  /** From now on it accepts connections and requests, and answers nothing. */
  fallSilent(): void;
  stop(): Promise<void>;
}

/** Starts a hostile directory: it accepts every password, returns the given entries and records the received credentials. */
export async function startRogueDirectory(): Promise<RogueDirectory> {
  const sockets = new Set<Socket>();
  const binds: BindFields[] = [];
  let people: TestEntry[] = [];
  let groups: TestEntry[] = [];
  let elsewhere: TestEntry[] = [];
  let connections = 0;
  let readings = 0;
  let isSilent = false;

  function answer(message: LdapMessage): Buffer | null {
    const { id } = message;
    if (message.operation === request.bind) {
      binds.push(parseBind(message));
      return isSilent ? null : bindResponse(id, { code: 0 });
    }
    if (message.operation !== request.search) return null;
    const { base, page, filter } = parseSearch(message);
    const encode = ({ dn, attributes }: TestEntry): Buffer =>
      searchEntry(
        id,
        dn,
        Object.entries(attributes).map(([name, value]) => [name, [value].flat().map((one) => Buffer.from(one))]),
      );
    if (page === null) {
      const read = elsewhere.filter(({ dn }) => dn === base).map(encode);
      return isSilent ? null : Buffer.concat([...read, searchDone(id, { code: 0 })]);
    }
    const isForPeople = asksForPeople(filter);
    if (isForPeople) readings += 1;
    if (isSilent) return null;
    const found = (isForPeople ? people : groups).map(encode);
    return Buffer.concat([...found, searchDone(id, { code: 0, cookie: Buffer.alloc(0) })]);
  }

  const server = createServer((socket) => {
    connections += 1;
    sockets.add(socket);
    const splitter = new MessageSplitter();
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    socket.on('data', (chunk: Buffer) => {
      for (const bytes of splitter.push(chunk)) {
        const reply = answer(parseMessage(bytes));
        if (reply !== null) socket.write(reply);
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  return {
    url: `ldap://127.0.0.1:${(server.address() as AddressInfo).port}`,
    baseDn: 'dc=rogue,dc=example',
    binds,
    connections: () => connections,
    readings: () => readings,
    setEntries(entries) {
      people = entries.people;
      groups = entries.groups ?? [];
      elsewhere = entries.elsewhere ?? [];
    },
    fallSilent() {
      isSilent = true;
    },
    async stop() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

const asksForPeople = (filter: FilterNode): boolean => {
  if (filter.kind === 'and' || filter.kind === 'or') return filter.filters.some(asksForPeople);
  return filter.kind === 'equal' && filter.value.toString().toLowerCase() === 'person';
};
