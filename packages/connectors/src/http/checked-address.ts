import { once } from 'node:events';
import { connect, isIP, isIPv6, type LookupFunction, type Socket } from 'node:net';
import { type AllowedHost, isAllowedHost, withoutRootDot } from './allowed-hosts.ts';
import { OutboundError } from './outbound-error.ts';
import { isPrivateAddress, isPublicAddress } from './public-address.ts';
import { resolveByDns, resolveLocally, type ResolveHost } from './resolve-host.ts';

/** Which addresses may be called (contract, “Outbound requests”). */
export interface AddressPolicy {
  /**
   * `public` for what plain users set: hosts on the public internet alone. `private` for what administrators and holders of MANAGE
   * set: hosts of their own networks too. Link-local addresses and metadata services are in neither.
   */
  reach: 'public' | 'private';
  /** Hosts that may be called wherever they lead (the setting OUTBOUND_ALLOW_HOSTS). */
  allowHosts: readonly AllowedHost[];
  /** How names become addresses; this machine's DNS unless given, and before it, beyond the public, its hosts file. */
  resolve?: ResolveHost;
}

/** Addresses of one name that are tried. */
const maxAddresses = 6;

/**
 * The addresses of a host, each one checked. Throws an OutboundError that says `blocked`, an error with the code ENOTFOUND for a
 * name without an address, or the signal's reason.
 */
export async function checkedAddresses(url: URL, policy: AddressPolicy, signal: AbortSignal): Promise<string[]> {
  const isAllowed = isAllowedHost(url, policy.allowHosts);
  const isPrivate = policy.reach === 'private';
  const host = bareHost(url);
  const resolve = policy.resolve ?? (isAllowed || isPrivate ? resolveLocally() : resolveByDns());
  const addresses = isIP(host) === 0 ? await found(host, resolve(host, signal), signal) : [host];
  const isCallable = (address: string) => isPublicAddress(address) || (isPrivate && isPrivateAddress(address));
  if (!isAllowed && !addresses.every(isCallable)) throw new OutboundError('blocked', url.host);
  return addresses.slice(0, maxAddresses);
}

/**
 * The same for a client that speaks something other than HTTP: the address to give it as host, while the name goes into `servername`,
 * or, where it takes one, the look-up that answers what was checked and so tries them all.
 */
export async function checkedAddress(
  host: string,
  port: number,
  policy: AddressPolicy,
  signal: AbortSignal,
): Promise<{ address: string; lookup: LookupFunction }> {
  // Read as a URL reads it, so that every spelling of an address is checked as the address it is.
  const url = /[\s/?#@\\]/.test(host) ? null : URL.parse(`http://${isIPv6(host) ? `[${host}]` : host}:${port}/`);
  if (!url) throw unknownHost(host);
  url.hostname = withoutRootDot(url.hostname);
  const [address = '', ...others] = await checkedAddresses(url, policy, signal);
  return { address, lookup: pinnedTo([address, ...others]) };
}

/** Opens TCP connections to hosts the policy allows. Throws like `checkedAddress`, and what sockets throw. */
export const dialUnder =
  (policy: AddressPolicy) =>
  async (host: string, port: number, signal: AbortSignal): Promise<Socket> => {
    const { lookup } = await checkedAddress(host, port, policy, signal);
    const socket = connect({ host, port, lookup });
    try {
      await once(socket, 'connect', { signal });
      return socket;
    } catch (error) {
      socket.destroy();
      signal.throwIfAborted();
      throw error;
    }
  };

/** Without the brackets of an IPv6 address. */
export const bareHost = (url: URL): string => url.hostname.replace(/^\[(.*)\]$/, '$1');

/** Answers the addresses that were checked, so that the name is not looked up a second time. */
export const pinnedTo = (addresses: string[]): LookupFunction => {
  const all = addresses.map((address) => ({ address, family: isIP(address) }));
  return (_name, options, answer) => {
    const [first] = all;
    if (options.all) answer(null, all);
    else answer(null, first?.address ?? '', first?.family);
  };
};

const unknownHost = (host: string, cause?: unknown): Error =>
  Object.assign(new Error(`${host} has no address`, { cause }), { code: 'ENOTFOUND' });

/** What a look-up finds, or the signal's reason as soon as there is one. */
async function found(host: string, looking: Promise<string[]>, signal: AbortSignal): Promise<string[]> {
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  try {
    const addresses = await Promise.race([looking, aborted.promise]);
    if (addresses.length === 0) throw unknownHost(host);
    return addresses;
  } catch (error) {
    signal.throwIfAborted();
    throw unknownHost(host, error);
  } finally {
    signal.removeEventListener('abort', abort);
    aborted.promise.catch(() => undefined);
  }
}
