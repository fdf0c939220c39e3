/** A host that may be called at any address, on one port or on all ports. */
export interface AllowedHost {
  /** In URL form: lower case, punycode, an IPv6 address in brackets. */
  host: string;
  port: number | null;
}

/** `host`, `host:port` or `[address]:port`; null for anything else. */
export function parseAllowedHost(entry: string): AllowedHost | null {
  const [, host, digits] = /^(\[[0-9a-f:.]+\]|[^\s:/?#@\\[\]]+)(?::(\d{1,5}))?$/i.exec(entry) ?? [];
  const url = host === undefined ? null : URL.parse(`http://${host}`);
  const port = digits === undefined ? null : Number(digits);
  if (!url || !/^(?:\[.+\]|[a-z0-9._-]+)$/.test(url.hostname) || (port !== null && (port < 1 || port > 65_535)))
    return null;
  return { host: withoutRootDot(url.hostname), port };
}

export const isAllowedHost = (url: URL, allowed: readonly AllowedHost[]): boolean =>
  allowed.some(({ host, port }) => host === withoutRootDot(url.hostname) && (port === null || port === portOf(url)));

export const portOf = ({ port, protocol }: URL): number => Number(port) || (protocol === 'https:' ? 443 : 80);

/** `example.org.` names the same host as `example.org`; certificates and lists contain the latter. */
export const withoutRootDot = (hostname: string): string => hostname.replace(/\.$/, '');
