import type { IncomingMessage } from 'node:http';
import { BlockList, isIP } from 'node:net';
import type { FastifyRequest } from 'fastify';
import { newId } from '@portal/domain/ids';
import type { Config } from '@portal/platform/config';

// Short, and safe in a header, a log line and a shell.
const safeRequestId = /^[A-Za-z0-9._:-]{8,128}$/;

/** Whether a peer is a trusted proxy; `hop` counts from the socket outwards. */
type TrustsPeer = (address: string, hop: number) => boolean;

/** Reads the setting TRUST_PROXY; false if no peer is trusted. */
export function trustedPeers(trustProxy: Config['http']['trustProxy']): TrustsPeer | false {
  if (trustProxy === false) return false;
  if (typeof trustProxy === 'number') return (_address, hop) => hop < trustProxy;
  const networks = new BlockList();
  for (const network of trustProxy) {
    const [address = '', bits] = network.split('/');
    const family = familyOf(address);
    networks.addSubnet(address, bits === undefined ? (family === 'ipv6' ? 128 : 32) : Number(bits), family);
  }
  return (address) => isIP(address) !== 0 && networks.check(address, familyOf(address));
}

const familyOf = (address: string): 'ipv4' | 'ipv6' => (isIP(address) === 6 ? 'ipv6' : 'ipv4');

/** Generates request ids. Keeps the id of a trusted proxy, so that its log and ours can be joined. */
export function requestIds(trusts: TrustsPeer | false): (raw: IncomingMessage) => string {
  if (!trusts) return newId;
  return (raw) => {
    const given = raw.headers['x-request-id'];
    return typeof given === 'string' && safeRequestId.test(given) && trusts(raw.socket.remoteAddress ?? '', 0)
      ? given
      : newId();
  };
}

const mappedPrefix = '::ffff:';

/** The caller's address: behind trusted proxies the one they report, if it is valid. IPv4-mapped IPv6 addresses become plain IPv4. */
export function addressOf(request: FastifyRequest): string | null {
  const socketAddress = request.socket.remoteAddress;
  const reported = request.ip;
  const address = reported === socketAddress || isIP(reported) !== 0 ? reported : socketAddress;
  if (address === undefined) return null;
  return address.startsWith(mappedPrefix) && address.includes('.') ? address.slice(mappedPrefix.length) : address;
}
