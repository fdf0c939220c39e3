import type { IncomingHttpHeaders } from 'node:http';
import { BlockList, isIP } from 'node:net';

// Set by whatever passes a request on: with one of these the peer on the socket is not the caller.
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

// A page in a browser on this machine may have brought it here by a name of its own that suddenly leads to this machine.
const localHost = /^(127\.0\.0\.1|\[::1\]|localhost)(:\d{1,5})?$/i;

/** Whether a request comes from this machine and was meant for it: not for somebody a proxy here speaks for, nor for another name. */
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
