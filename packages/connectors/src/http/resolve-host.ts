import { lookup, Resolver } from 'node:dns/promises';

/** The addresses of a name; throws when it has none. */
export type ResolveHost = (name: string, signal: AbortSignal) => Promise<string[]>;

/**
 * Asks DNS, on `servers` or those of this machine. Not by way of the system's own look-up: that one holds one of the four
 * threads all files and look-ups of a process share until it is done, and how long a foreign name takes is up to its owner.
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

/** Asks the system, which also knows the names in the hosts file of this machine. */
export const resolveBySystem: ResolveHost = async (name) =>
  (await lookup(name, { all: true })).map(({ address }) => address);
