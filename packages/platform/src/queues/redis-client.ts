import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { SECOND } from '@portal/domain/time';
import type { Outage } from './outage.ts';
import type { RedisAddress } from './redis-address.ts';

export type RedisClient = Redis | Cluster;

/** Without the form of answers, which the library's types have as a parameter of the client. */
export type ClientOptions = Omit<RedisOptions, 'replyMapping'>;

/** Connects to a Redis and stays connected, whichever server is its primary. Reports to `outage` when it is lost and when it is back. */
export function openRedis(address: RedisAddress, options: ClientOptions, outage: Outage): RedisClient {
  let isReadOnly = false;
  const all: ClientOptions = {
    retryStrategy,
    connectTimeout: 5 * SECOND,
    // A primary that was demoted keeps its connections: a new one leads to its successor.
    reconnectOnError(error) {
      if (!/\bREADONLY\b/.test(error.message)) return false;
      isReadOnly = true;
      return true;
    },
    ...options,
  };
  const client = clientFor(address, all);
  let sentinelFault: Error | null = null;
  client.on('sentinelError', (error: Error) => (sentinelFault = error));
  client.on('error', (error: Error) => {
    // Only the fault of a sentinel says what is wrong: a password, or the name of the primary.
    outage.failed(/sentinels are unreachable/.test(error.message) ? (sentinelFault ?? error) : error);
  });
  client.on('ready', () => {
    // Whether a server that refused to write does so again, the next write tells.
    if (!isReadOnly) outage.passed();
    isReadOnly = false;
  });
  return client;
}

const retryStrategy = (times: number): number => Math.min(100 * 2 ** times, 2 * SECOND);

function clientFor(address: RedisAddress, options: ClientOptions): RedisClient {
  if (address.kind === 'server') return new Redis(address.url, options);
  const { username, password } = address.credentials;
  const own: ClientOptions = {
    ...options,
    ...(username !== null && { username }),
    ...(password !== null && { password }),
    ...(address.hasTls && { tls: {} }),
  };
  if (address.kind === 'cluster')
    return new Cluster(address.nodes, {
      clusterRetryStrategy: retryStrategy,
      enableOfflineQueue: options.enableOfflineQueue ?? true,
      // Names instead of their addresses: certificates are for names.
      dnsLookup: (host, done) => done(null, host),
      redisOptions: own,
    });
  const { sentinels, primaryName, database, hasTls, sentinelCredentials } = address;
  return new Redis({
    ...own,
    sentinels,
    name: primaryName,
    db: database,
    ...(sentinelCredentials.username !== null && { sentinelUsername: sentinelCredentials.username }),
    ...(sentinelCredentials.password !== null && { sentinelPassword: sentinelCredentials.password }),
    ...(hasTls && { sentinelTLS: {}, enableTLSForSentinelMode: true }),
    sentinelCommandTimeout: 2 * SECOND,
  });
}
