import type { User } from '@portal/client/interface';
import type { CsvRow } from './csv-read.ts';
import { withoutMark } from './csv-write.ts';
import type { Role } from './user-words.ts';

export const importFields = ['username', 'email', 'displayName', 'firstName', 'lastName', 'role', 'isActive'] as const;
export type ImportField = (typeof importFields)[number];

/** The column of each field, counted from 0; null if the file has none. */
export type Mapping = Record<ImportField, number | null>;

/** What people and other programs call the columns, in the form of `plain`. */
const headerNames: Record<ImportField, readonly string[]> = {
  username: [
    'benutzername',
    'username',
    'user',
    'benutzer',
    'login',
    'loginname',
    'anmeldename',
    'anmeldung',
    'kennung',
    'userid',
    'konto',
    'account',
    'samaccountname',
    'uid',
  ],
  email: ['email', 'emailadresse', 'emailaddress', 'mail', 'mailadresse', 'mailaddress'],
  displayName: ['anzeigename', 'displayname', 'name', 'vollername', 'vollstandigername', 'fullname', 'cn'],
  firstName: ['vorname', 'firstname', 'givenname', 'forename', 'rufname'],
  lastName: ['nachname', 'lastname', 'familienname', 'surname', 'familyname', 'sn', 'zuname'],
  role: ['rolle', 'role', 'berechtigung', 'rechte', 'rights'],
  isActive: ['aktiv', 'active', 'status', 'state', 'isactive', 'enabled', 'zustand'],
};

/** Without regard to case, accents, blanks and signs. */
const plain = (text: string): string =>
  text
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .replaceAll(/[^a-z0-9]/g, '');

/** Finds the columns by their headers. The name that stands first in the list of a field wins. */
export function mappingOf(header: readonly string[]): Mapping {
  const names = header.map(plain);
  const find = (field: ImportField): number | null => {
    const found = headerNames[field].map((name) => names.indexOf(name)).find((column) => column !== -1);
    return found ?? null;
  };
  return {
    username: find('username'),
    email: find('email'),
    displayName: find('displayName'),
    firstName: find('firstName'),
    lastName: find('lastName'),
    role: find('role'),
    isActive: find('isActive'),
  };
}

export interface NewAccount {
  username: string;
  email: string | null;
  displayName: string | null;
  firstName: string | null;
  lastName: string | null;
  role: Role;
  isActive: boolean;
}

export type Fault =
  | 'noUsername'
  | 'tooLong'
  | 'control'
  | 'email'
  | 'role'
  | 'roleNotAllowed'
  | 'active'
  | 'emailTaken';

/** What will become of a row. */
export type Fate =
  | { kind: 'new' }
  | { kind: 'exists' }
  /** The line of the first row with the same username or address. */
  | { kind: 'duplicate'; line: number }
  | { kind: 'invalid'; fault: Fault; field: ImportField };

export interface PlannedRow {
  line: number;
  account: NewAccount;
  fate: Fate;
}

interface Known {
  users: readonly Pick<User, 'username' | 'email'>[];
  /** Roles that the person may assign. */
  roles: readonly Role[];
}

/** Says for each row whether its account can be created. The API decides in the end: it knows more accounts than an administrator sees. */
export function planImport(rows: readonly CsvRow[], mapping: Mapping, { users, roles }: Known): PlannedRow[] {
  const usernames = new Set(users.map(({ username }) => username));
  const emails = new Set(users.flatMap(({ email }) => email ?? []));
  /** Lines of rows that will be created, by username and by address. */
  const lines = { username: new Map<string, number>(), email: new Map<string, number>() };

  return rows.map(({ line, cells }) => {
    const cell = (field: ImportField): string => {
      const column = mapping[field];
      return column === null ? '' : withoutMark(cells[column] ?? '').trim();
    };
    const role = roleOf(cell('role'));
    const isActive = activityOf(cell('isActive'));
    const account: NewAccount = {
      username: stored(cell('username')),
      email: stored(cell('email')) || null,
      displayName: cell('displayName') || null,
      firstName: cell('firstName') || null,
      lastName: cell('lastName') || null,
      role: role ?? 'USER',
      isActive: isActive ?? true,
    };
    const fate = (): Fate => {
      const { username, email } = account;
      const invalid = faultOf(account);
      if (invalid) return { kind: 'invalid', ...invalid };
      if (role === null) return { kind: 'invalid', fault: 'role', field: 'role' };
      if (!roles.includes(role)) return { kind: 'invalid', fault: 'roleNotAllowed', field: 'role' };
      if (isActive === null) return { kind: 'invalid', fault: 'active', field: 'isActive' };
      if (usernames.has(username)) return { kind: 'exists' };
      if (email !== null && emails.has(email)) return { kind: 'invalid', fault: 'emailTaken', field: 'email' };
      const earlier = lines.username.get(username) ?? (email === null ? undefined : lines.email.get(email));
      if (earlier !== undefined) return { kind: 'duplicate', line: earlier };
      lines.username.set(username, line);
      if (email !== null) lines.email.set(email, line);
      return { kind: 'new' };
    };
    return { line, account, fate: fate() };
  });
}

/** The form in which the API stores usernames and addresses. */
const stored = (text: string): string => text.normalize('NFC').toLowerCase().normalize('NFC').trim();

const maxLengths = { username: 128, email: 254, displayName: 200, firstName: 200, lastName: 200 } as const;
const lineFields = ['username', 'email', 'displayName', 'firstName', 'lastName'] as const;
const control = /[\p{Cc}\u2028\u2029]/u;
const addressForm = /^[^\s@<>()[\]\\,;:"]{1,64}@([^\s@<>()[\]\\,;:"]{1,253}|\[[0-9A-Za-z.:]{2,60}\])$/;

function faultOf(account: NewAccount): { fault: Fault; field: ImportField } | null {
  if (account.username === '') return { fault: 'noUsername', field: 'username' };
  for (const field of lineFields) {
    const value = account[field] ?? '';
    if (value.length > maxLengths[field]) return { fault: 'tooLong', field };
    if (control.test(value)) return { fault: 'control', field };
  }
  if (account.email !== null && !addressForm.test(account.email)) return { fault: 'email', field: 'email' };
  return null;
}

const roleNames: Record<Role, readonly string[]> = {
  USER: ['', 'user', 'benutzer', 'benutzerin', 'nutzer', 'mitarbeiter'],
  ADMIN: ['admin', 'administrator', 'administratorin', 'verwalter'],
  SUPER_ADMIN: ['superadmin', 'superadministrator', 'superadministratorin'],
};

/** Null if the word names no role. */
function roleOf(text: string): Role | null {
  const word = plain(text);
  if (word === '' && text !== '') return null;
  const roles: Role[] = ['USER', 'ADMIN', 'SUPER_ADMIN'];
  return roles.find((role) => roleNames[role].includes(word)) ?? null;
}

const yes = ['', 'ja', 'j', 'yes', 'y', 'true', 'wahr', '1', 'x', 'aktiv', 'active', 'enabled', 'aktiviert'];
const no = ['nein', 'n', 'no', 'false', 'falsch', '0', 'inaktiv', 'inactive', 'disabled', 'deaktiviert', 'deactivated'];

/** Null if the word says neither. */
function activityOf(text: string): boolean | null {
  const word = plain(text);
  if (word === '' && text !== '') return null;
  if (yes.includes(word)) return true;
  return no.includes(word) ? false : null;
}
