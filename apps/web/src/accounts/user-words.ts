import type { User } from '@portal/client/interface';
import { catalogue } from '../language.ts';
import { me } from '../session.ts';

export type Role = User['role'];

/** From the fewest rights to the most. */
export const allRoles: readonly Role[] = ['USER', 'ADMIN', 'SUPER_ADMIN'];

/** Roles that the person may assign: only a super administrator appoints others. */
export const assignableRoles = (): Role[] =>
  allRoles.filter((role) => role !== 'SUPER_ADMIN' || me.value?.role === 'SUPER_ADMIN');

/** Words for the facts of an account that lists, forms and files share. */
export const words = catalogue({
  de: {
    username: 'Benutzername',
    displayName: 'Anzeigename',
    firstName: 'Vorname',
    lastName: 'Nachname',
    email: 'E-Mail-Adresse',
    role: 'Rolle',
    isActive: 'Aktiv',
    status: 'Status',
    source: 'Herkunft',
    tenant: 'Mandant',
    lastLogin: 'Letzte Anmeldung',
    created: 'Angelegt',
    updated: 'Zuletzt geändert',
    welcomeMail: 'Willkommensmail',
    mustChangePassword: 'Muss das Passwort ändern',
    roles: { USER: 'Benutzer', ADMIN: 'Administrator', SUPER_ADMIN: 'Super-Administrator' },
    sources: { local: 'Lokal', directory: 'Verzeichnis' },
    active: 'Aktiv',
    inactive: 'Inaktiv',
    yes: 'Ja',
    no: 'Nein',
    never: 'Noch nie',
  },
  en: {
    username: 'Username',
    displayName: 'Display name',
    firstName: 'First name',
    lastName: 'Last name',
    email: 'E-mail address',
    role: 'Role',
    isActive: 'Active',
    status: 'Status',
    source: 'Source',
    tenant: 'Tenant',
    lastLogin: 'Last sign-in',
    created: 'Created',
    updated: 'Last changed',
    welcomeMail: 'Welcome mail',
    mustChangePassword: 'Must change the password',
    roles: { USER: 'User', ADMIN: 'Administrator', SUPER_ADMIN: 'Super administrator' },
    sources: { local: 'Local', directory: 'Directory' },
    active: 'Active',
    inactive: 'Deactivated',
    yes: 'Yes',
    no: 'No',
    never: 'Never',
  },
});

/** What people call the account. */
export function nameOf({ displayName, firstName, lastName, username }: Named): string {
  return displayName ?? ([firstName, lastName].filter(Boolean).join(' ') || username);
}

type Named = Pick<User, 'displayName' | 'firstName' | 'lastName' | 'username'>;

/** The name inside a sentence: a name written from right to left does not turn the words around it. */
export const namedInText = (user: Named): string => `\u2068${nameOf(user)}\u2069`;
