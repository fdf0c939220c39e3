import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  fingerprintOf,
  groupTranslation,
  RememberedPeople,
  type RememberedPerson,
  storePeople,
} from './directory-memory.ts';

const person = (n: number, more: Partial<RememberedPerson> = {}): RememberedPerson => ({
  fingerprint: fingerprintOf(Buffer.from(`entry ${n}`)),
  directoryId: `id-${n}`,
  isLive: true,
  isAdmitted: true,
  mayExpire: false,
  groups: `${n % 3},${3 + (n % 5)}`,
  ...more,
});

function restored(people: RememberedPerson[]): RememberedPeople {
  const { entries, ...texts } = storePeople(people);
  const remembered = new RememberedPeople(entries);
  remembered.add(texts);
  return remembered;
}

describe('what is remembered of people', () => {
  it('finds each by what the entry said, and nobody else', () => {
    const people = Array.from({ length: 5_000 }, (_, n) => person(n));
    const remembered = restored(people);
    expect(remembered.count).toBe(5_000);
    for (const [place, { fingerprint, directoryId }] of people.entries()) {
      expect(remembered.find(fingerprint ?? '')).toBe(place);
      expect(remembered.placeOf(directoryId)).toBe(place);
    }
    for (let n = 0; n < 5_000; n += 1) expect(remembered.find(fingerprintOf(randomBytes(20)))).toBe(-1);
    expect(remembered.placeOf('id-5000')).toBeUndefined();
  });

  it('keeps everything that is said about a person', () => {
    const people = [
      person(0),
      person(1, { isLive: false, groups: '' }),
      person(2, { isAdmitted: false, isLive: false }),
      person(3, { mayExpire: true }),
    ];
    const remembered = restored(people);
    for (const [place, expected] of people.entries()) {
      const { fingerprint, ...rest } = remembered.person(place);
      const { fingerprint: whole, ...others } = expected;
      expect(rest).toEqual(others);
      expect(whole?.startsWith(fingerprint ?? 'none')).toBe(true);
    }
    expect(restored(people.map((_, place) => remembered.person(place))).find(people[3]?.fingerprint ?? '')).toBe(3);
  });

  it('recognizes nobody who is to be looked at again, but knows of them', () => {
    const remembered = restored([person(0, { fingerprint: null }), person(1)]);
    expect(remembered.isKnown(0)).toBe(false);
    expect(remembered.person(0).fingerprint).toBeNull();
    expect(remembered.placeOf('id-0')).toBe(0);
    expect(remembered.find('\0'.repeat(32))).toBe(-1);
    expect(remembered.find(fingerprintOf(Buffer.from('entry 1')))).toBe(1);
  });

  it('knows entries apart that begin alike', () => {
    const alike = ['a', 'b', 'c'].map((end) => `${'x'.repeat(15)}${end}${'y'.repeat(16)}`);
    const remembered = restored(alike.map((fingerprint, n) => person(n, { fingerprint })));
    expect(alike.map((fingerprint) => remembered.find(fingerprint))).toEqual([0, 1, 2]);
    expect(remembered.find(`${'x'.repeat(15)}d${'y'.repeat(16)}`)).toBe(-1);
  });

  it('can be empty', () => {
    const remembered = restored([]);
    expect(remembered.count).toBe(0);
    expect(remembered.find(fingerprintOf(Buffer.from('anything')))).toBe(-1);
  });

  it('refuses texts of other people', () => {
    const { entries } = storePeople([person(0), person(1)]);
    expect(() => new RememberedPeople(entries).add({ directoryIds: 'id-0', groups: '\n' })).toThrow('1 lines for 2');
  });
});

describe('positions in another list of groups', () => {
  it('are those of the same groups, in ascending order', () => {
    const translate = groupTranslation(['a', 'b', 'c'], ['c', 'new', 'a', 'b']);
    expect(translate('0,2')).toBe('0,2');
    expect(translate('0,1')).toBe('2,3');
    expect(translate('1,2')).toBe('0,3');
    expect(translate('')).toBe('');
  });

  it('do not exist when a group is gone', () => {
    const translate = groupTranslation(['a', 'b'], ['b']);
    expect(translate('0,1')).toBeNull();
    expect(translate('0,1')).toBeNull();
    expect(translate('1')).toBe('0');
  });

  it('are the same in the same list', () => {
    expect(groupTranslation(['a', 'b'], ['a', 'b'])('0,1')).toBe('0,1');
  });
});
