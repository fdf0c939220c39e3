import { describe, expect, it } from 'vitest';
import { lowestFreeName } from './tabs.ts';

describe('the name of a new tab', () => {
  it.each([
    [[], 'Dashboard 1'],
    [['Dashboard 1', 'Dashboard 2'], 'Dashboard 3'],
    [['Dashboard 2', 'Leitstelle'], 'Dashboard 1'],
    [['Dashboard 1', 'Dashboard 3', 'Dashboard 1'], 'Dashboard 2'],
    [['dashboard 1', 'Dashboard 01', 'Dashboard  1'], 'Dashboard 1'],
  ])('next to %j is %s', (names, name) => {
    expect(lowestFreeName(names)).toBe(name);
  });
});
