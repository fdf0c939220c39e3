import type { IncomingHttpHeaders } from 'node:http';
import { BlockList, isIP } from 'node:net';

// Set by proxies: with one of these, the peer on the socket is not the caller.
const forwardingHeaders = [
  'forwarded',
  'via',
  'x-client-ip',
  'x-forwarded-for',
  'x-forwarded-host',
  'x-forwarded-proto',
  'x-real-ip',
] as const;

const loopback = new BlockList();
loopback.addSubnet('127.0.0.0', 8, 'ipv4');
loopback.addAddress('::1', 'ipv6');

// Prevents DNS rebinding: a web page in a local browser may use its own host name, which suddenly resolves to this machine.
const localHost = /^(127\.0\.0\.1|\[::1\]|localhost)(:\d{1,5})?$/i;

/** Whether a request comes from this machine and names it as host: not through a proxy, and not under another name. */
export function isLocalCaller(remoteAddress: string | undefined, headers: IncomingHttpHeaders): boolean {
  const address = remoteAddress ?? '';
  const family = isIP(address) === 6 ? 'ipv6' : 'ipv4';
  return (
    isIP(address) !== 0 &&
    loopback.check(address, family) &&
    localHost.test(headers.host ?? '') &&
    forwardingHeaders.every((name) => headers[name] === undefined)
  );
}
