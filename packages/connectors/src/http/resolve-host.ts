import { Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join } from 'node:path';

/** The addresses of a name; throws if it has none. */
export type ResolveHost = (name: string, signal: AbortSignal) => Promise<string[]>;

/**
 * Queries DNS, at `servers` or those of this machine. It avoids the system's look-up, which occupies one of the four threads that all file
 * operations and look-ups of a process share; the owner of a foreign name decides for how long.
 */
export const resolveByDns =
  (servers?: string[]): ResolveHost =>
  async (name, signal) => {
    const resolver = new Resolver({ timeout: 2_000, tries: 2 });
    if (servers) resolver.setServers(servers);
    const cancel = () => resolver.cancel();
    signal.addEventListener('abort', cancel, { once: true });
    try {
      const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
      signal.throwIfAborted();
      const addresses = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
      const [first] = answers;
      if (addresses.length === 0)
        throw first.status === 'rejected' ? first.reason : new Error(`${name} has no address`);
      return addresses;
    } finally {
      signal.removeEventListener('abort', cancel);
    }
  };

const hostsFileOfSystem =
  process.platform === 'win32' ? join(String.raw`C:\Windows\System32\drivers\etc`, 'hosts') : '/etc/hosts';

/** Most search domains that are tried; more would only add waiting time. */
const maxDomains = 6;

/**
 * Resolves like the system's look-up, but without its threads: first the hosts file of this machine, then DNS, with the name itself and
 * within this machine's search domains. For names set by administrators and operators: `localhost`, a service beside ours, a server of
 * their own domain.
 */
export const resolveLocally =
  ({ hostsFile = hostsFileOfSystem, settingsFile = '/etc/resolv.conf', resolve = resolveByDns() } = {}): ResolveHost =>
  async (name, signal) => {
    const listed = addressesIn(await textOf(hostsFile), name);
    if (listed.length > 0) return listed;
    // Always this machine (RFC 6761, 6.3).
    if (/^(?:.+\.)?localhost$/i.test(name)) return ['127.0.0.1', '::1'];
    let failure: unknown;
    for (const candidate of candidatesFor(name, await textOf(settingsFile))) {
      try {
        return await resolve(candidate, signal);
      } catch (error) {
        signal.throwIfAborted();
        failure ??= error;
      }
    }
    throw failure;
  };

const textOf = (file: string): Promise<string> => readFile(file, 'utf8').catch(() => '');

/** The words of each line, without comments. */
const linesOf = (text: string): string[][] =>
  text.split('\n').map((line) =>
    line
      .replace(/[#;].*/, '')
      .trim()
      .split(/\s+/),
  );

const addressesIn = (hosts: string, name: string): string[] =>
  linesOf(hosts).flatMap(([address = '', ...names]) =>
    isIP(address) !== 0 && names.some((one) => one.toLowerCase() === name.toLowerCase()) ? [address] : [],
  );

/** The name itself and the name within each `search` domain; a name with fewer dots than `ndots` (1) is tried in the domains first. */
function candidatesFor(name: string, settings: string): string[] {
  const lines = linesOf(settings);
  const domains = lines.findLast(([word]) => word === 'search' || word === 'domain')?.slice(1, 1 + maxDomains) ?? [];
  const options = lines.filter(([word]) => word === 'options').flat();
  const ndots = options.flatMap((option) => /^ndots:(\d{1,2})$/.exec(option)?.[1] ?? []).at(-1) ?? 1;
  const within = domains.map((domain) => `${name}.${domain.replace(/\.$/, '')}`).filter((one) => !one.endsWith('.'));
  return name.split('.').length > Number(ndots) ? [name, ...within] : [...within, name];
}
