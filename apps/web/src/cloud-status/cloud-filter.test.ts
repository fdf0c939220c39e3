import { describe, expect, it } from 'vitest';
import type { CloudInstance } from '@portal/client/interface';
import { filterClouds, filterOf, pathOf } from './cloud-filter.ts';

const cloud = (customerName: string, changes: Partial<CloudInstance> = {}): CloudInstance => ({
  id: customerName,
  customerName,
  statusUrl: `https://${customerName.toLowerCase()}.example.org`,
  hasLogo: false,
  isActive: true,
  light: 'green',
  versionAssessment: 'current',
  version: '34.0.2',
  productName: 'Testcloud',
  latestVersion: '34.0.2',
  supportEndsAt: null,
  isMaintenance: false,
  needsDbUpgrade: false,
  lastCheckState: 'ok',
  reportedState: 'ok',
  consecutiveFailures: 0,
  failure: null,
  message: null,
  checkedAt: null,
  lastOkAt: null,
  subscribed: false,
  ...changes,
});
const clouds = [
  cloud('Altdorf'),
  cloud('Bergen', { light: 'yellow', subscribed: true }),
  cloud('Celle', { light: 'red', version: '28.0.1' }),
  cloud('Deich', { light: 'grey', version: null, productName: null }),
  cloud('Emden', { light: 'red' }),
];
const found = (query: Record<string, string>) =>
  filterClouds(clouds, filterOf(query)).map(({ customerName }) => customerName);

describe('the list of clouds', () => {
  it.each([
    ['has the worst first, by name among equals', {}, ['Celle', 'Emden', 'Bergen', 'Deich', 'Altdorf']],
    ['has the lights that are asked for', { light: 'yellow,red' }, ['Celle', 'Emden', 'Bergen']],
    ['passes over a light that there is not', { light: 'blue' }, ['Celle', 'Emden', 'Bergen', 'Deich', 'Altdorf']],
    ['finds by name, address, product and version', { search: ' TESTCLOUD 28.0 celle.example ' }, ['Celle']],
    ['has the subscribed ones', { mine: '1' }, ['Bergen']],
    ['may be empty', { search: 'nothing' }, []],
  ])('%s', (_, query, names) => {
    expect(found(query as Record<string, string>)).toEqual(names);
  });

  it('has its filters in the address', () => {
    const path = pathOf({ search: 'a b&c', lights: ['red', 'grey'], isMine: true });
    expect(path).toBe('/app/cloud-status?search=a+b%26c&light=red%2Cgrey&mine=1');
    const query = Object.fromEntries(new URLSearchParams(path.slice(path.indexOf('?'))));
    expect(pathOf(filterOf(query))).toBe(path);
    expect(pathOf(filterOf({}))).toBe('/app/cloud-status');
  });
});
