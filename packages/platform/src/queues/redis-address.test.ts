import { describe, expect, it } from 'vitest';
import { RedisAddress } from './redis-address.ts';

const problemsOf = (text: string): string[] =>
  RedisAddress.safeParse(text).error?.issues.map(({ message }) => message) ?? [];

describe('the address of a Redis', () => {
  it.each([
    'redis://localhost',
    'redis://localhost:6379/',
    'redis://user:p%40ss@[::1]:6380/3',
    'REDISS://:word@host/0?family=6',
  ])('of one server stays as it is: %s', (url) => {
    expect(RedisAddress.parse(url)).toEqual({ kind: 'server', url });
  });

  it('of sentinels has hosts, the name of the primary, and what else differs from the usual', () => {
    expect(RedisAddress.parse('redis+sentinel://one,two:26380,[fd00::3]:26381/mymaster')).toEqual({
      kind: 'sentinel',
      sentinels: [
        { host: 'one', port: 26379 },
        { host: 'two', port: 26380 },
        { host: 'fd00::3', port: 26381 },
      ],
      primaryName: 'mymaster',
      database: 0,
      hasTls: false,
      credentials: { username: null, password: null },
      sentinelCredentials: { username: null, password: null },
    });
    expect(
      RedisAddress.parse(
        'rediss+sentinel://portal:p%40s%3As+@one.example.org:26379/queues-1/7?sentinel_username=look&sentinel_password=s+%26=1',
      ),
    ).toMatchObject({
      primaryName: 'queues-1',
      database: 7,
      hasTls: true,
      credentials: { username: 'portal', password: 'p@s:s+' },
      sentinelCredentials: { username: 'look', password: 's+&=1' },
    });
    expect(RedisAddress.parse('redis+sentinel://:word@one/main')).toMatchObject({
      credentials: { username: null, password: 'word' },
    });
  });

  it('of a cluster has hosts and credentials', () => {
    expect(RedisAddress.parse('rediss+cluster://portal:word@one,two:7001/0')).toEqual({
      kind: 'cluster',
      nodes: [
        { host: 'one', port: 6379 },
        { host: 'two', port: 7001 },
      ],
      hasTls: true,
      credentials: { username: 'portal', password: 'word' },
    });
  });

  it.each([
    ['http://host', 'must be redis://host:port'],
    ['redis+proxy://host', 'must be redis://host:port'],
    ['redis-sentinel://one/mymaster', 'must be redis://host:port'],
    ['one:26379', 'must be redis://host:port'],
    ['redis://host:port', 'must be redis://host:port'],
    ['redis://one:6379,two:6379', 'must say what several hosts are'],
    ['redis://host/mymaster', 'must end with the number of a database'],
    ['redis+sentinel://one,two', 'must name the primary'],
    ['redis+sentinel://one/my master', 'must name the primary'],
    ['redis+sentinel://one/mymaster/0/1', 'must name the primary'],
    ['redis+sentinel://one/mymaster/first', 'must end with the number of a database'],
    ['redis+sentinel:///mymaster', 'host 1 is none'],
    ['redis+sentinel://one,,two/mymaster', 'host 2 is none'],
    ['redis+sentinel://one,two:0/mymaster', 'host 2 is none'],
    ['redis+sentinel://one,two:70000/mymaster', 'host 2 is none'],
    ['redis+sentinel://one,two:x/mymaster', 'host 2 is none'],
    ['redis+sentinel://one,two,one:26379/mymaster', 'host 3 repeats one'],
    ['redis+sentinel://word@one/mymaster', 'must have a password behind the user name'],
    ['redis+sentinel://user:@one/mymaster', 'must have a password behind the user name'],
    ['redis+sentinel://user:wo:rd@one/mymaster', 'colon in a user name or password as %3A'],
    ['redis+sentinel://:wo%rd@one/mymaster', 'as %25'],
    ['redis+sentinel://:wo/rd@one/mymaster', 'as %40, %2F and %23'],
    ['redis+sentinel://:wo#rd@one/mymaster', 'as %40, %2F and %23'],
    ['redis+sentinel://one/mymaster?sentinel_username=look', 'sentinel_password together with sentinel_username'],
    ['redis+sentinel://one/mymaster?sentinel_password=', 'a value for sentinel_password'],
    ['redis+sentinel://one/mymaster?sentinel_password=a&sentinel_password=b', 'sentinel_password once'],
    ['redis+sentinel://one/mymaster?db=3', 'but sentinel_username and sentinel_password'],
    ['redis+cluster://one/3', 'has the database 0 alone'],
    ['redis+cluster://one?sentinel_password=a', 'must have no option behind ? here'],
    ['redis+cluster://', 'host 1 is none'],
  ])('with a mistake is refused in plain words: %s', (text, problem) => {
    expect(problemsOf(text)).toEqual([expect.stringContaining(problem)]);
  });

  it('with several mistakes names each of them, and no part of a password', () => {
    const problems = problemsOf('redis+sentinel://user:hun:ter2@one,two:hunter2/?hunter2=hunter2');
    expect(problems).toHaveLength(4);
    expect(problems.join()).not.toContain('ter2');
  });
});
