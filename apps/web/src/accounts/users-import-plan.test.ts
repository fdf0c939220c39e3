import { describe, expect, it } from 'vitest';
import { mappingOf, planImport } from './users-import-plan.ts';

const header = ['Benutzername', 'E-Mail', 'Vorname', 'Rolle', 'Aktiv'];
const users = [{ username: 'anna', email: 'anna@example.org' }];

const fatesOf = (...rows: string[][]) =>
  planImport(
    rows.map((cells, index) => ({ line: index + 2, cells })),
    mappingOf(header),
    { users, roles: ['USER', 'ADMIN'] },
  ).map(({ fate }) => fate);

describe('mappingOf', () => {
  it.each([
    [['Benutzername', 'E-Mail-Adresse', 'Anzeigename', 'Vorname', 'Nachname', 'Rolle', 'Aktiv']],
    [['User name', 'E-mail address', 'Display name', 'First name', 'Last name', 'Role', 'Active']],
    [['sAMAccountName', 'mail', 'displayName', 'givenName', 'sn', 'ROLE', 'enabled']],
  ])('finds %j', (names) => expect(Object.values(mappingOf(names))).toEqual([0, 1, 2, 3, 4, 5, 6]));

  it('prefers the better name and leaves out what is missing', () => {
    expect(mappingOf(['User', 'Benutzername', 'Telefon'])).toMatchObject({ username: 1, email: null });
  });
});

describe('planImport', () => {
  it('creates what is new, in the form that is stored', () => {
    const [row] = planImport(
      [{ line: 2, cells: [' Max.MEIER ', 'MAX@Example.org', 'Max', 'Admin', 'nein'] }],
      mappingOf(header),
      {
        users,
        roles: ['USER', 'ADMIN'],
      },
    );
    expect(row).toEqual({
      line: 2,
      account: {
        username: 'max.meier',
        email: 'max@example.org',
        displayName: null,
        firstName: 'Max',
        lastName: null,
        role: 'ADMIN',
        isActive: false,
      },
      fate: { kind: 'new' },
    });
  });

  it('says what exists, what is invalid and why, and what the file has twice', () => {
    expect(
      fatesOf(
        ['ANNA'],
        [''],
        ['x'.repeat(129)],
        ['a\nb'],
        ['ben', 'nonsense'],
        ['ben', '', '', 'root'],
        ['ben', '', '', 'superadmin'],
        ['ben', '', '', '', 'perhaps'],
        ['ben', 'Anna@example.org'],
        ['ben', 'ben@example.org'],
        ['Ben'],
        ['cem', 'ben@example.org'],
        ['cem'],
      ),
    ).toEqual([
      { kind: 'exists' },
      { kind: 'invalid', fault: 'noUsername', field: 'username' },
      { kind: 'invalid', fault: 'tooLong', field: 'username' },
      { kind: 'invalid', fault: 'control', field: 'username' },
      { kind: 'invalid', fault: 'email', field: 'email' },
      { kind: 'invalid', fault: 'role', field: 'role' },
      { kind: 'invalid', fault: 'roleNotAllowed', field: 'role' },
      { kind: 'invalid', fault: 'active', field: 'isActive' },
      { kind: 'invalid', fault: 'emailTaken', field: 'email' },
      { kind: 'new' },
      { kind: 'duplicate', line: 11 },
      { kind: 'duplicate', line: 11 },
      { kind: 'new' },
    ]);
  });
});
