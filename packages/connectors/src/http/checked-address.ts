import { once } from 'node:events';
import { connect, isIP, isIPv6, type LookupFunction, type Socket } from 'node:net';
import { type AllowedHost, isAllowedHost, withoutRootDot } from './allowed-hosts.ts';
import { OutboundError } from './outbound-error.ts';
import { isPrivateAddress, isPublicAddress } from './public-address.ts';
import { resolveByDns, resolveLocally, type ResolveHost } from './resolve-host.ts';

/** Which addresses may be called. */
export interface AddressPolicy {
  /**
   * `public` for addresses set by plain users: only hosts on the public internet. `private` for addresses set by administrators and
   * holders of MANAGE: also hosts of their own networks. Neither includes link-local addresses or metadata services.
   */
  reach: 'public' | 'private';
  /** Hosts that may be called at any address (setting OUTBOUND_ALLOW_HOSTS). */
  allowHosts: readonly AllowedHost[];
  /** Resolves names. By default this machine's DNS; for `private` and allowed hosts, its hosts file comes first. */
  resolve?: ResolveHost;
}

/** Most addresses of one name that are tried. */
const maxAddresses = 6;

/**
 * Resolves a host and checks every address. Throws an OutboundError with the reason `blocked`, an error with the code ENOTFOUND for a
 * name without an address, or the signal's reason.
 */
export async function checkedAddresses(url: URL, policy: AddressPolicy, signal: AbortSignal): Promise<string[]> {
  const isAllowed = isAllowedHost(url, policy.allowHosts);
  const isPrivate = policy.reach === 'private';
  const host = bareHost(url);
  const resolve = policy.resolve ?? (isAllowed || isPrivate ? resolveLocally() : resolveByDns());
  const addresses = isIP(host) === 0 ? await resolved(host, resolve(host, signal), signal) : [host];
  const isCallable = (address: string) => isPublicAddress(address) || (isPrivate && isPrivateAddress(address));
  if (!isAllowed && !addresses.every(isCallable)) throw new OutboundError('blocked', url.host);
  return addresses.slice(0, maxAddresses);
}

/**
 * The same for clients of other protocols. Pass them `address` as the host and the name as `servername`, or, if they accept one, the
 * `lookup`, which answers all checked addresses so that the client tries each.
 */
export async function checkedAddress(
  host: string,
  port: number,
  policy: AddressPolicy,
  signal: AbortSignal,
): Promise<{ address: string; lookup: LookupFunction }> {
  // URL parsing normalizes every spelling of an address, so that the check sees the real one.
  const url = /[\s/?#@\\]/.test(host) ? null : URL.parse(`http://${isIPv6(host) ? `[${host}]` : host}:${port}/`);
  if (!url) throw unknownHost(host);
  url.hostname = withoutRootDot(url.hostname);
  const [address = '', ...others] = await checkedAddresses(url, policy, signal);
  return { address, lookup: pinnedTo([address, ...others]) };
}

/** Opens TCP connections to hosts that the policy allows. Throws the errors of `checkedAddress` and of sockets. */
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

/** The host name without the brackets of an IPv6 address. */
export const bareHost = (url: URL): string => url.hostname.replace(/^\[(.*)\]$/, '$1');

/** A look-up that answers the checked addresses, so that the name is not resolved a second time. */
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

/** Waits for a look-up. Throws the signal's reason as soon as it is aborted. */
async function resolved(host: string, lookup: Promise<string[]>, signal: AbortSignal): Promise<string[]> {
  const aborted = Promise.withResolvers<never>();
  const abort = () => aborted.reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  if (signal.aborted) abort();
  try {
    const addresses = await Promise.race([lookup, aborted.promise]);
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
