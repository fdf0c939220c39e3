import { z } from 'zod';
import { type Actor, isSuperAdmin, Role } from '../access.ts';
import { DashboardBackground } from '../dashboards/background.ts';
import { forbidden, invalid } from '../errors.ts';
import { Id } from '../ids.ts';
import { mailAddressForm } from '../mail-address.ts';
import { line } from '../text.ts';
import { Instant } from '../time.ts';

/** Normalizes a username for storage and lookup: NFC, lower case, trimmed. */
export const normalizeUsername = (username: string): string =>
  username.normalize('NFC').toLowerCase().normalize('NFC').trim();

/** A username in its stored form (1 to 128 characters). */
export const Username = line(128)
  .transform(normalizeUsername)
  .pipe(z.string().min(1, 'must not be empty').max(128))
  .meta({ description: 'Stored in lower case; unique', example: 'anna.schmidt' });

/**
 * A deliverable e-mail address in its stored form, lower case. Accepts an internationalised local part, because today's mail servers
 * accept it.
 */
export const Email = line(254)
  .transform((value) => value.normalize('NFC').toLowerCase())
  .pipe(z.email({ pattern: mailAddressForm }))
  .meta({ description: 'Stored in lower case; unique if set', example: 'anna.schmidt@example.org' });

export const AccentColor = z
  .string()
  .regex(/^#[0-9a-fA-F]{6}$/, 'must be a color such as #2563eb')
  .toLowerCase()
  .meta({ example: '#2563eb' });

export const Language = z.enum(['de', 'en']);
export type Language = z.infer<typeof Language>;

export const Theme = z.enum(['light', 'dark']);
export type Theme = z.infer<typeof Theme>;

/** Any password a user may enter. `checkNewPassword` holds the rules for new passwords. */
export const PasswordInput = z
  .string()
  .min(1, 'must not be empty')
  .max(1_024)
  .meta({ format: 'password', example: 'correct horse battery' });

export const AccountSource = z.enum(['local', 'directory']);

const person = {
  id: Id,
  username: z.string(),
  email: z.string().nullable(),
  displayName: z.string().nullable(),
  firstName: z.string().nullable(),
  lastName: z.string().nullable(),
  role: Role,
  tenantId: Id,
  tenantName: z.string(),
  isLocalUser: z.boolean().describe('True if the portal stores the password; false for a directory account'),
  hasAvatar: z.boolean(),
  accentColor: z.string(),
  mustChangePassword: z.boolean(),
  lastLoginAt: Instant.nullable(),
  lastSeenReleaseVersion: z.string().nullable(),
};

const anna = {
  id: '0198d3c0-6d5e-7b44-8f0a-3f1f6f0c2a11',
  username: 'anna.schmidt',
  email: 'anna.schmidt@example.org',
  displayName: 'Anna Schmidt',
  firstName: 'Anna',
  lastName: 'Schmidt',
  role: 'ADMIN',
  tenantId: '0198d3bf-91f2-7d10-a1b3-5b0f6ce1d2e3',
  tenantName: 'Stadtwerke Beispiel',
  isLocalUser: true,
  hasAvatar: false,
  accentColor: '#2563eb',
  mustChangePassword: false,
  lastLoginAt: '2026-11-20T08:30:00.000Z',
  lastSeenReleaseVersion: null,
} as const;

/** What an account sees of itself. */
export const Profile = z
  .object({
    ...person,
    language: Language.nullable().describe('Of the pages; null for that of the browser'),
    theme: Theme.nullable().describe('Of the pages; null for that of the browser'),
    dashboardBackground: DashboardBackground,
    pendingEmail: z
      .string()
      .nullable()
      .describe('Replaces `email` when the link mailed to it is used; null if no change is pending'),
  })
  .meta({
    id: 'Profile',
    example: { ...anna, language: 'de', theme: null, dashboardBackground: { kind: 'none' }, pendingEmail: null },
  });
export type Profile = z.output<typeof Profile>;

/** The profile as stored. Each request carries that of its own account. */
export type OwnAccount = Omit<Profile, 'dashboardBackground'> & { dashboardBackground: unknown };

/** What administrators see of an account. */
export const User = z
  .object({
    ...person,
    isActive: z.boolean(),
    source: AccountSource,
    welcomeMailSentAt: Instant.nullable(),
    createdAt: Instant,
    updatedAt: Instant,
  })
  .meta({
    id: 'User',
    example: {
      ...anna,
      isActive: true,
      source: 'local',
      welcomeMailSentAt: null,
      createdAt: '2026-11-01T09:00:00.000Z',
      updatedAt: '2026-11-20T08:30:00.000Z',
    },
  });
export type User = z.output<typeof User>;

/** The fields of an account that the role rules need. */
export interface AccountStanding {
  id: string;
  tenantId: string;
  role: Role;
}

/** Throws 403 if an ADMIN acts on a SUPER_ADMIN. The caller has already checked that the actor can see the account. */
export function checkMayAdminister(actor: Actor, target: AccountStanding): void {
  if (target.role === 'SUPER_ADMIN' && !isSuperAdmin(actor)) {
    throw forbidden('FORBIDDEN', 'Only a SUPER_ADMIN may change another SUPER_ADMIN.');
  }
}

/** Throws 403 for a role that the actor may not assign. */
export function checkMayAssign(actor: Actor, role: Role): void {
  if (role === 'SUPER_ADMIN' && !isSuperAdmin(actor)) {
    throw forbidden('ROLE_NOT_ALLOWED');
  }
}

/**
 * Returns the tenant named in a body or query, or null if none was named. An ADMIN may name only their own tenant; any other throws
 * 403, whether it exists or not.
 */
export function tenantNamedBy(actor: Actor, tenantId: string | undefined): string | null {
  if (tenantId === undefined) return null;
  if (tenantId !== actor.tenantId && !isSuperAdmin(actor))
    throw forbidden('FORBIDDEN', 'You may only name your own tenant.');
  return tenantId;
}

export const passwordLength = { min: 10, max: 128 } as const;

/**
 * Throws 400 `PASSWORD_POLICY` unless `password` may become this account's password: 10 to 128 characters,
 * neither its username nor its e-mail, and not a common one.
 */
export function checkNewPassword(
  password: string,
  account: { username: string; email: string | null },
  isCommon: (password: string) => boolean,
): void {
  const problem = passwordProblem(password, account, isCommon);
  if (problem) throw invalid('PASSWORD_POLICY', problem);
}

function passwordProblem(
  password: string,
  account: { username: string; email: string | null },
  isCommon: (password: string) => boolean,
): string | null {
  const length = [...password].length;
  if (length < passwordLength.min) return `The new password must have at least ${passwordLength.min} characters.`;
  if (length > passwordLength.max) return `The new password must have at most ${passwordLength.max} characters.`;
  if (!password.isWellFormed()) return 'The new password must be valid Unicode text.';
  const folded = normalizeUsername(password);
  if (
    folded === account.username ||
    folded === account.email ||
    (account.email !== null && folded === account.email.split('@')[0])
  ) {
    return 'The new password must not be the username or the e-mail address.';
  }
  if (isCommon(password))
    return 'This password is among the most common ones and easily guessed. Please choose another.';
  return null;
}
