import { describe, expect, it } from 'vitest';
import type { DirectoryPerson } from './person.ts';
import { exceedsDeactivationLimit, type KnownAccount, movesThatWork, planAccount, planGroups } from './plan.ts';

const person: DirectoryPerson = {
  directoryId: 'id-1',
  dn: 'cn=anna,dc=org',
  username: 'anna',
  email: 'anna@example.org',
  hasBadEmail: false,
  displayName: 'Anna Schmidt',
  firstName: 'Anna',
  lastName: 'Schmidt',
};
const account: KnownAccount = {
  id: 'account-1',
  directoryId: 'id-1',
  ldapDn: 'cn=anna,dc=org',
  username: 'anna',
  email: 'anna@example.org',
  displayName: 'Anna Schmidt',
  firstName: 'Anna',
  lastName: 'Schmidt',
  isActive: true,
  deactivatedBySync: false,
  isSuperAdmin: false,
};
const free = { username: 'free', isEmailFree: true } as const;

describe('a person of the directory', () => {
  it('gets an account if new', () => {
    expect(planAccount(person, null, free)).toEqual({
      kind: 'create',
      warnings: [],
      values: {
        directoryId: 'id-1',
        ldapDn: 'cn=anna,dc=org',
        username: 'anna',
        email: 'anna@example.org',
        displayName: 'Anna Schmidt',
        firstName: 'Anna',
        lastName: 'Schmidt',
      },
    });
  });

  it('does not change an identical account', () => {
    expect(planAccount(person, account, free)).toEqual({ kind: 'keep', account, warnings: [] });
  });

  it('never changes a SUPER_ADMIN', () => {
    const owner = { ...account, isSuperAdmin: true, isActive: false, deactivatedBySync: true };
    const warnings = [expect.stringContaining('SUPER_ADMIN, which no synchronization touches')];
    for (const change of [{}, { username: 'n' }, { email: null }, { dn: 'cn=n,dc=org' }])
      expect(planAccount({ ...person, ...change }, owner, free)).toEqual({ kind: 'keep', account: owner, warnings });
    expect(planAccount({ ...person, directoryId: 'id-2' }, owner, free)).toEqual({
      kind: 'skip',
      directoryId: 'id-2',
      warnings,
    });
  });

  it.each([
    [{ username: 'anna.schmidt' }, ['username']],
    [{ email: null }, ['email']],
    [{ displayName: null, lastName: 'Meier' }, ['displayName', 'lastName']],
    [{ dn: 'cn=anna,ou=it,dc=org' }, ['ldapDn']],
    [{ directoryId: 'id-2' }, ['directoryId']],
  ])('with the change %j changes %j', (change, changed) => {
    expect(planAccount({ ...person, ...change }, account, free)).toMatchObject({
      kind: 'update',
      changed,
      isReactivated: false,
    });
  });

  it('reactivates only an account that a synchronization switched off', () => {
    expect(planAccount(person, { ...account, isActive: false, deactivatedBySync: true }, free)).toMatchObject({
      kind: 'update',
      isReactivated: true,
    });
    expect(planAccount(person, { ...account, isActive: false }, free)).toMatchObject({ kind: 'keep' });
    expect(planAccount({ ...person, lastName: 'Meier' }, { ...account, isActive: false }, free)).toMatchObject({
      kind: 'update',
      isReactivated: false,
    });
  });

  it.each([
    ['local', 'local account'],
    ['directory', 'another account of the directory'],
    ['elsewhere', 'is not available'],
    ['duplicate', 'more than once'],
  ] as const)(
    'gets no account if the username is taken (%s), and an existing account keeps its name',
    (username, words) => {
      const states = { username, isEmailFree: true };
      expect(planAccount(person, null, states)).toEqual({
        kind: 'skip',
        directoryId: 'id-1',
        warnings: [expect.stringContaining(words)],
      });
      const renamed = planAccount({ ...person, username: 'other', lastName: 'Meier' }, account, states);
      expect(renamed).toMatchObject({
        kind: 'update',
        values: { username: 'anna', lastName: 'Meier' },
        changed: ['lastName'],
      });
      expect(renamed.warnings).toEqual([expect.stringContaining('keeps its username')]);
    },
  );

  it('does not reveal where a username is taken', () => {
    const { warnings } = planAccount(person, null, { username: 'elsewhere', isEmailFree: true });
    expect(warnings.join(' ')).not.toMatch(/tenant|organization/i);
  });

  it('gets no address if it is taken or invalid', () => {
    expect(planAccount(person, null, { username: 'free', isEmailFree: false })).toMatchObject({
      kind: 'create',
      values: { email: null },
      warnings: [expect.stringContaining('taken')],
    });
    expect(planAccount({ ...person, email: null, hasBadEmail: true }, null, free)).toMatchObject({
      values: { email: null },
      warnings: [expect.stringContaining('not a valid e-mail address')],
    });
    expect(planAccount(person, { ...account, email: null }, { username: 'free', isEmailFree: false })).toMatchObject({
      kind: 'keep',
    });
  });

  it('gets no account without a username, and an existing account keeps its own', () => {
    expect(planAccount({ ...person, username: null }, null, free)).toMatchObject({ kind: 'skip' });
    expect(planAccount({ ...person, username: null, displayName: null }, null, free)).toMatchObject({
      warnings: ['An entry of the directory has no usable username and was skipped.'],
    });
    expect(planAccount({ ...person, username: null, lastName: 'Meier' }, account, free)).toMatchObject({
      kind: 'update',
      values: { username: 'anna' },
      warnings: [expect.stringContaining('keeps its username')],
    });
  });
});

describe('accounts that want each other’s names', () => {
  const move = (from: string, to: string) => ({ id: `${from}>${to}`, from, to });
  it.each([
    ['swap', [move('a', 'b'), move('b', 'a')], [], ['a>b', 'b>a']],
    ['go round', [move('a', 'b'), move('b', 'c'), move('c', 'a')], [], ['a>b', 'b>c', 'c>a']],
    ['follow each other', [move('a', 'b'), move('b', 'c')], [], ['a>b', 'b>c']],
    ['stay when the last of them cannot move', [move('a', 'b'), move('b', 'c'), move('x', 'y')], ['c'], ['x>y']],
    ['stay if one name in the circle stays taken', [move('a', 'b'), move('b', 'a'), move('z', 'a')], ['b'], []],
  ])('%s', (_how, moves, held, working) => {
    expect([...movesThatWork(moves, (name) => held.includes(name))].toSorted()).toEqual(working);
  });
});

it.each([
  [5, 5, false],
  [6, 6, true],
  [6, 30, false],
  [7, 30, true],
  [20, 100, false],
  [21, 100, true],
  [0, 0, false],
])('a run that takes away %j of %j exceeds the limit: %j', (leaving, active, is) => {
  expect(exceedsDeactivationLimit(leaving, active)).toBe(is);
});

it('plans the groups of the directory', () => {
  const known = ['a', 'b', 'c'].map((name) => ({ id: `id-${name}`, directoryId: name, internalName: name }));
  expect(
    planGroups(known, [
      { directoryId: 'a', name: 'a' },
      { directoryId: 'b', name: 'renamed' },
      { directoryId: 'd', name: 'a' },
    ]),
  ).toEqual({
    create: [{ directoryId: 'd', name: 'a' }],
    rename: [{ id: 'id-b', internalName: 'renamed' }],
    remove: [known[2]],
  });
});
