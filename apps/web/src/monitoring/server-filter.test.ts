import { describe, expect, it } from 'vitest';
import type { Server } from '@portal/client/interface';
import { filterOf, filterServers, listedServers, pathOf } from './server-filter.ts';
import type { ShortServer } from './servers.ts';

const short = (name: string, more: Partial<ShortServer> = {}): ShortServer => ({
  id: name,
  name,
  kind: 'virtualization',
  state: 'ok',
  failure: null,
  message: null,
  checkedAt: null,
  headline: '',
  facts: [],
  ...more,
});

const off = { id: 'z', name: 'z', kind: 'backup', isActive: false, address: 'https://z.example.org:8007' };
const full = { ...off, status: short('z', { state: 'unknown' }) } as unknown as Server;

describe('the list of servers', () => {
  const servers = listedServers(
    [short('b'), short('a'), short('w', { state: 'warning' }), short('u', { state: 'unknown', kind: 'backup' })],
    [full],
  );

  it('has the most urgent first, and those switched off last', () => {
    expect(servers.map(({ name }) => name).join('')).toBe('uwabz');
  });

  it('is narrowed by what its address says', () => {
    const found = (query: Record<string, string>) =>
      filterServers(servers, filterOf(query))
        .map(({ name }) => name)
        .join('');
    expect(found({ state: 'unknown,off,nonsense' })).toBe('uz');
    expect(found({ kind: 'backup', search: ' EXAMPLE z' })).toBe('z');
    expect(found({ kind: 'nonsense' })).toBe('uwabz');
    expect(pathOf(filterOf({ state: 'ok,critical', search: 'a b' }))).toBe(
      '/app/virtualization?state=critical%2Cok&search=a+b',
    );
  });
});
