import { z } from 'zod';

/** A server of a group; `host` without brackets, also for IPv6. */
interface Endpoint {
  host: string;
  port: number;
}

interface Credentials {
  username: string | null;
  password: string | null;
}

/** Where the queues' Redis is: one server, a primary that sentinels name, or a cluster. */
export type RedisAddress =
  | { kind: 'server'; url: string }
  | {
      kind: 'sentinel';
      sentinels: Endpoint[];
      /** Name under which the sentinels watch the primary. */
      primaryName: string;
      database: number;
      hasTls: boolean;
      /** For the primary and its replicas; the sentinels have their own. */
      credentials: Credentials;
      sentinelCredentials: Credentials;
    }
  | { kind: 'cluster'; nodes: Endpoint[]; hasTls: boolean; credentials: Credentials };

const forms =
  'must be redis://host:port, redis+sentinel://host:port,host:port/name-of-the-primary or redis+cluster://host:port,host:port; with TLS, rediss instead of redis';

/**
 * Parses the address of a Redis. Several hosts are separated by commas, as redis-py and its users write them; user names and passwords are
 * percent-encoded. A mistake is named without the text around it, which could be part of a password.
 */
export const RedisAddress = z.string().transform((text, check): RedisAddress => {
  const problems: string[] = [];
  const address = addressIn(text, (problem) => void problems.push(problem));
  for (const problem of problems) check.addIssue(problem);
  return problems.length > 0 || address === null ? z.NEVER : address;
});

type Complain = (problem: string) => void;

function addressIn(text: string, complain: Complain): RedisAddress | null {
  const [, scheme = '', authority = '', path = '', query = ''] =
    /^([a-z][a-z+]*):\/\/([^/?#]*)(?:\/([^?#]*))?(?:\?([^#]*))?(?:#.*)?$/is.exec(text) ?? [];
  const [protocol = '', topology] = scheme.toLowerCase().split('+');
  if ((protocol !== 'redis' && protocol !== 'rediss') || !['sentinel', 'cluster', undefined].includes(topology)) {
    complain(forms);
    return null;
  }
  if (text.includes('#') || path.includes('@')) {
    complain('must have @, / and # in a user name or password as %40, %2F and %23');
    return null;
  }
  if (topology === undefined) return serverAt(text, authority, path, complain);
  const hasTls = protocol === 'rediss';
  const at = authority.lastIndexOf('@');
  const credentials = credentialsIn(authority.slice(0, Math.max(at, 0)), complain);
  const hosts = authority.slice(at + 1);
  const options = optionsIn(query, topology === 'sentinel' ? ['sentinel_username', 'sentinel_password'] : [], complain);
  if (topology === 'cluster') {
    if (path !== '' && path !== '0') complain('must have no path: a Redis Cluster has the database 0 alone');
    return { kind: 'cluster', nodes: endpointsIn(hosts, 6379, complain), hasTls, credentials };
  }
  const [primaryName = '', database = '0', ...rest] = path.split('/');
  if (!/^[\w.-]+$/.test(primaryName) || rest.length > 0)
    complain('must name the primary that the sentinels watch after the hosts, for example /mymaster or /mymaster/0');
  if (!isDatabase(database)) complain('must end with the number of a database, for example /mymaster/0');
  const sentinelCredentials = {
    username: options.get('sentinel_username') ?? null,
    password: options.get('sentinel_password') ?? null,
  };
  if (sentinelCredentials.username !== null && sentinelCredentials.password === null)
    complain('must have a sentinel_password together with sentinel_username');
  return {
    kind: 'sentinel',
    sentinels: endpointsIn(hosts, 26379, complain),
    primaryName,
    database: Number(database),
    hasTls,
    credentials,
    sentinelCredentials,
  };
}

function serverAt(url: string, authority: string, path: string, complain: Complain): RedisAddress {
  if (authority.slice(authority.lastIndexOf('@') + 1).includes(','))
    complain('must say what several hosts are: sentinels (redis+sentinel://) or a cluster (redis+cluster://)');
  else if (!URL.canParse(url)) complain(forms);
  if (path !== '' && !isDatabase(path)) complain('must end with the number of a database, for example /0');
  return { kind: 'server', url };
}

const isDatabase = (text: string): boolean => /^\d{1,5}$/.test(text);

function endpointsIn(hosts: string, usualPort: number, complain: Complain): Endpoint[] {
  const seen = new Set<string>();
  return hosts.split(',').map((text, index) => {
    const where = `host ${index + 1}`;
    const [, bracketed, name = '', digits = `${usualPort}`] =
      /^(?:\[([\da-f:.%]+)\]|([\w.-]+))(?::(\d{1,5}))?$/i.exec(text) ?? [];
    const host = bracketed ?? name;
    const port = Number(digits);
    if (host === '' || port < 1 || port > 65_535)
      complain(`must have a host with an optional port between its commas; ${where} is none`);
    else if (seen.has(`${host}:${port}`)) complain(`must have each host once; ${where} repeats one`);
    seen.add(`${host}:${port}`);
    return { host, port };
  });
}

/** `user:password` or `:password`, as in every Redis address. */
function credentialsIn(text: string, complain: Complain): Credentials {
  if (text === '') return { username: null, password: null };
  const [username = '', password = '', ...rest] = text.split(':');
  if (password === '') complain('must have a password behind the user name, as user:password@ or :password@');
  if (rest.length > 0) complain('must have a colon in a user name or password as %3A');
  return { username: username === '' ? null : decoded(username, complain), password: decoded(password, complain) };
}

function optionsIn(query: string, known: string[], complain: Complain): Map<string, string> {
  const options = new Map<string, string>();
  for (const part of query === '' ? [] : query.split('&')) {
    const [name = '', ...value] = part.split('=');
    if (!known.includes(name))
      complain(`must have no option behind ? ${known.length > 0 ? `but ${known.join(' and ')}` : 'here'}`);
    else if (options.has(name)) complain(`must have ${name} once`);
    else if (value.join('=') === '') complain(`must have a value for ${name}`);
    else options.set(name, decoded(value.join('='), complain));
  }
  return options;
}

/** A plus sign stays one: passwords have it, and only forms write a space that way. */
function decoded(text: string, complain: Complain): string {
  try {
    return decodeURIComponent(text);
  } catch {
    complain('must have % in a user name or password as %25');
    return '';
  }
}
