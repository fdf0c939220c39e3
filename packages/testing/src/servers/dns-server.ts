import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { isIPv6 } from 'node:net';

/** The answer for a name: addresses of both families, and an alias if there is one. The number counts the queries of this type. */
export type Zone = Record<string, (asked: number) => { alias?: string; addresses: string[] }>;

export interface DnsServer {
  /** Address and port, in the form that DNS clients expect. */
  server: string;
  /** How often each name was asked for an IPv4 address. */
  asked: Map<string, number>;
  close(): Promise<void>;
}

const types = { a: 1, cname: 5, aaaa: 28 };

/** Starts a name server on a local UDP socket. Its answers have a TTL of 0; a name outside the zone does not exist. */
export async function startDnsServer(zone: Zone): Promise<DnsServer> {
  const socket = createSocket('udp4');
  const counts = new Map<string, number>();
  const asked = new Map<string, number>();
  socket.on('message', (query, { address, port }) => {
    const { name, type, end } = readQuestion(query);
    const key = `${type} ${name}`;
    counts.set(key, (counts.get(key) ?? 0) + 1);
    if (type === types.a) asked.set(name, (asked.get(name) ?? 0) + 1);
    const found = zone[name]?.(counts.get(key) ?? 1);
    const addresses = (found?.addresses ?? []).filter((one) => (isIPv6(one) ? types.aaaa : types.a) === type);
    const owner = found?.alias ?? name;
    const records = [
      ...(found?.alias === undefined ? [] : [record(name, types.cname, nameBytes(found.alias))]),
      ...addresses.map((one) => record(owner, type, addressBytes(one))),
    ];
    const header = Buffer.alloc(12);
    query.copy(header, 0, 0, 2);
    // A response, with recursion desired and available; code 3 means that the name does not exist.
    header.writeUInt16BE(0x8180 | (found ? 0 : 3), 2);
    header.writeUInt16BE(1, 4);
    header.writeUInt16BE(records.length, 6);
    socket.send(Buffer.concat([header, query.subarray(12, end), ...records]), port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    server: `127.0.0.1:${socket.address().port}`,
    asked,
    async close() {
      socket.close();
      await once(socket, 'close');
    },
  };
}

function readQuestion(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  for (let length = query.readUInt8(at); length > 0; length = query.readUInt8(at)) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}

const nameBytes = (name: string): Buffer =>
  Buffer.concat([
    ...name.split('.').map((label) => Buffer.from(`${String.fromCharCode(label.length)}${label}`, 'latin1')),
    Buffer.alloc(1),
  ]);

function record(name: string, type: number, content: Buffer): Buffer {
  const fixed = Buffer.alloc(10);
  fixed.writeUInt16BE(type, 0);
  fixed.writeUInt16BE(1, 2);
  fixed.writeUInt16BE(content.length, 8);
  return Buffer.concat([nameBytes(name), fixed, content]);
}

/** Encodes an IPv4 or IPv6 address, the latter also with an IPv4 tail or a gap. */
function addressBytes(address: string): Buffer {
  if (!isIPv6(address)) return Buffer.from(address.split('.').map(Number));
  const groups = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const [head = [], tail = []] = groups.map((part) => part.split(':').filter(Boolean));
  const all = [...head, ...Array.from({ length: 8 - head.length - tail.length }, () => '0'), ...tail];
  return Buffer.from(all.map((group) => group.padStart(4, '0')).join(''), 'hex');
}
