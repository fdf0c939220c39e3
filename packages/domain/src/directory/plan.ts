import type { DirectoryGroup } from './groups.ts';
import type { DirectoryPerson } from './person.ts';

/** The fields of an account that a synchronization reads. */
export interface KnownAccount {
  id: string;
  directoryId: string | null;
  ldapDn: string | null;
  username: string;
  email: string | null;
  displayName: string | null;
  firstName: string | null;
  lastName: string | null;
  isActive: boolean;
  /** True if a synchronization switched the account off. Only then may a synchronization switch it on again. */
  deactivatedBySync: boolean;
  isSuperAdmin: boolean;
}

/**
 * Whether a username is free, and if not, what holds it: a local account, another account of the directory, an account of another
 * tenant, or a second entry of the directory (`duplicate`).
 */
export type UsernameState = 'free' | 'local' | 'directory' | 'elsewhere' | 'duplicate';

export interface NameStates {
  username: UsernameState;
  isEmailFree: boolean;
  /** Whether the account's current name is on the exclude list. The reader checks only the name in the directory. */
  isExcluded?: boolean;
}

/** The account fields that come from the directory. */
export interface AccountValues {
  directoryId: string;
  ldapDn: string;
  username: string;
  email: string | null;
  displayName: string | null;
  firstName: string | null;
  lastName: string | null;
}

export type AccountPlan = { warnings: string[] } & (
  | { kind: 'create'; values: AccountValues }
  | {
      kind: 'update';
      account: KnownAccount;
      values: AccountValues;
      changed: (keyof AccountValues)[];
      isReactivated: boolean;
    }
  | { kind: 'keep'; account: KnownAccount }
  | { kind: 'exclude'; account: KnownAccount; directoryId: string }
  | { kind: 'skip'; directoryId: string }
);

/** Field names for administrators. */
export const fieldNames: Readonly<Record<keyof AccountValues, string>> = {
  username: 'username',
  email: 'e-mail',
  displayName: 'display name',
  firstName: 'first name',
  lastName: 'last name',
  ldapDn: 'place in the directory',
  directoryId: 'identity in the directory',
};

/**
 * Decides what to do for one admitted person of the directory: create an account, change the account found, or nothing.
 * If the username is taken, a new person gets no account, and an existing account keeps its old name, which may put it on the exclude
 * list. If the address is taken, it stays empty. A SUPER_ADMIN never changes.
 */
export function planAccount(person: DirectoryPerson, account: KnownAccount | null, names: NameStates): AccountPlan {
  const warnings: string[] = [];
  const skip = (reason: string): AccountPlan => ({ kind: 'skip', directoryId: person.directoryId, warnings: [reason] });
  if (account?.isSuperAdmin) {
    const left = superAdminLeft(account.username);
    return account.directoryId === person.directoryId ? { kind: 'keep', account, warnings: [left] } : skip(left);
  }
  if (account && names.isExcluded && (person.username === null || names.username !== 'free'))
    return { kind: 'exclude', account, directoryId: person.directoryId, warnings };
  const known = person.username ?? account?.username ?? person.displayName;
  if (person.username === null) {
    const who = known === null ? 'An entry of the directory' : `${quoted(known)} of the directory`;
    if (!account) return skip(`${who} has no usable username and was skipped.`);
    warnings.push(
      `The account ${quoted(account.username)} keeps its username: the directory no longer has a usable one.`,
    );
  }
  if (person.username !== null && names.username !== 'free') {
    const reason = `the username ${quoted(person.username)} ${taken[names.username]}`;
    if (!account) return skip(`A person was skipped: ${reason}.`);
    warnings.push(`The account ${quoted(account.username)} keeps its username: ${reason}.`);
  }
  // Persons with neither a free name nor an account were skipped above.
  const username = (names.username === 'free' ? person.username : null) ?? account?.username ?? '';
  if (person.hasBadEmail)
    warnings.push(`The address of ${quoted(username)} is not a valid e-mail address and was left empty.`);
  if (person.email !== null && !names.isEmailFree)
    warnings.push(`The e-mail address of ${quoted(username)} is taken by another account and was left empty.`);

  const values: AccountValues = {
    directoryId: person.directoryId,
    ldapDn: person.dn,
    username,
    email: names.isEmailFree ? person.email : null,
    displayName: person.displayName,
    firstName: person.firstName,
    lastName: person.lastName,
  };
  if (!account) return { kind: 'create', values, warnings };
  const changed = (Object.keys(values) as (keyof AccountValues)[]).filter((field) => values[field] !== account[field]);
  const isReactivated = !account.isActive && account.deactivatedBySync;
  if (changed.length === 0 && !isReactivated) return { kind: 'keep', account, warnings };
  return {
    kind: 'update',
    account,
    values,
    changed,
    isReactivated,
    warnings,
  };
}

/** The warning for a SUPER_ADMIN that the directory would change. */
export const superAdminLeft = (username: string): string =>
  `The account ${quoted(username)} was left as it is: it is a SUPER_ADMIN, which no synchronization touches.`;

const taken: Record<Exclude<UsernameState, 'free'>, string> = {
  local: 'belongs to a local account, which a synchronization never takes over',
  directory: 'belongs to another account of the directory',
  // Does not say where: accounts of other organizations must stay hidden.
  elsewhere: 'is not available',
  duplicate: 'occurs more than once in the directory',
};

const quoted = (name: string): string => `“${name}”`;

/** An account that changes its name. */
export interface Move {
  id: string;
  from: string;
  to: string;
}

/**
 * Returns the ids of the accounts that get their new names if all move at once. An account keeps its old name if its new name stays
 * taken, and then so does every account that wants that old name.
 */
export function movesThatWork(moves: Move[], isHeld: (name: string) => boolean): Set<string> {
  const working = new Map(moves.filter(({ to }) => !isHeld(to)).map((move) => [move.id, move]));
  const keptNames = moves.filter(({ id }) => !working.has(id)).map(({ from }) => from);
  const wanting = Map.groupBy(moves, ({ to }) => to);
  for (const name of keptNames) {
    for (const { id, from } of wanting.get(name) ?? []) {
      if (working.delete(id)) keptNames.push(from);
    }
  }
  return new Set(working.keys());
}

/** A run may always switch off `count` accounts; more only up to this share of the active accounts. */
const deactivationLimit = { count: 5, share: 0.2 } as const;

/** Whether a run needs `force` to take away `leaving` of `active` accounts or groups. */
export const exceedsDeactivationLimit = (leaving: number, active: number): boolean =>
  leaving > deactivationLimit.count && leaving > deactivationLimit.share * active;

/** A directory group stored in the portal. */
export interface KnownGroup {
  id: string;
  directoryId: string;
  internalName: string;
}

export interface GroupsPlan {
  create: DirectoryGroup[];
  rename: { id: string; internalName: string }[];
  remove: KnownGroup[];
}

/** Compares the stored groups with the wanted ones and returns the differences. */
export function planGroups(known: KnownGroup[], wanted: DirectoryGroup[]): GroupsPlan {
  const knownById = new Map(known.map((group) => [group.directoryId, group]));
  const wantedIds = new Set(wanted.map(({ directoryId }) => directoryId));
  return {
    create: wanted.filter(({ directoryId }) => !knownById.has(directoryId)),
    rename: wanted.flatMap(({ directoryId, name }) => {
      const group = knownById.get(directoryId);
      return group && group.internalName !== name ? [{ id: group.id, internalName: name }] : [];
    }),
    remove: known.filter(({ directoryId }) => !wantedIds.has(directoryId)),
  };
}
