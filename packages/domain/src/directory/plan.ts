import type { DirectoryGroup } from './groups.ts';
import type { DirectoryPerson } from './person.ts';

/** An account as far as a synchronization looks at it. */
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
  /** Whether a synchronization switched it off: only then may one switch it on again. */
  deactivatedBySync: boolean;
  isSuperAdmin: boolean;
}

/** Who stands in the way of a username: nobody, an account kept here, another of the directory, one elsewhere, an entry of the same name. */
export type UsernameState = 'free' | 'local' | 'directory' | 'elsewhere' | 'twice';

export interface NameStates {
  username: UsernameState;
  isEmailFree: boolean;
  /** Whether the name that the account has is on the exclude list; the reader knows only the one the directory has for the person. */
  isExcluded?: boolean;
}

/** What an account takes over from the directory. */
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
  | { kind: 'update'; account: KnownAccount; values: AccountValues; changed: string[]; isReactivated: boolean }
  | { kind: 'keep'; account: KnownAccount }
  | { kind: 'exclude'; account: KnownAccount; directoryId: string }
  | { kind: 'skip'; directoryId: string }
);

/** Names of fields as people read them; the others are the directory's own affair. */
const fieldNames: Partial<Record<keyof AccountValues, string>> = {
  username: 'username',
  email: 'e-mail',
  displayName: 'display name',
  firstName: 'first name',
  lastName: 'last name',
  ldapDn: 'place in the directory',
  directoryId: 'identity in the directory',
};

/**
 * What becomes of one person of the directory, who may come in: a new account, a change of the one found, or nothing.
 * A taken username keeps a new person out and an account under its old name, by which it may be excluded after all; a taken address
 * stays empty. A SUPER_ADMIN stays as it is in any case.
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
  // Whoever has neither a free name nor an account was skipped just now.
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
    changed: changed.map((field) => fieldNames[field] ?? field),
    isReactivated,
    warnings,
  };
}

/** What a run says of a SUPER_ADMIN the directory would change. */
export const superAdminLeft = (username: string): string =>
  `The account ${quoted(username)} was left as it is: it is a SUPER_ADMIN, which no synchronization touches.`;

const taken: Record<Exclude<UsernameState, 'free'>, string> = {
  local: 'belongs to a local account, which a synchronization never takes over',
  directory: 'belongs to another account of the directory',
  // Nothing about where: accounts of other organizations are nobody's business here.
  elsewhere: 'is not available',
  twice: 'stands in the directory more than once',
};

const quoted = (name: string): string => `“${name}”`;

/** One account's wish for another name. */
export interface Move {
  id: string;
  from: string;
  to: string;
}

/**
 * Which of the accounts that want each other's names get them when all move at once. One whose new name is held by somebody
 * who stays keeps its own, and so does whoever wanted that.
 */
export function movesThatWork(moves: Move[], isHeld: (name: string) => boolean): Set<string> {
  const working = new Map(moves.filter(({ to }) => !isHeld(to)).map((move) => [move.id, move]));
  const kept = moves.filter(({ id }) => !working.has(id)).map(({ from }) => from);
  const wanting = Map.groupBy(moves, ({ to }) => to);
  for (const name of kept) {
    for (const { id, from } of wanting.get(name) ?? []) {
      if (working.delete(id)) kept.push(from);
    }
  }
  return new Set(working.keys());
}

/** Up to this many accounts a run may always switch off, and beyond it up to this share of the active ones. */
const deactivationLimit = { count: 5, share: 0.2 } as const;

/** Whether so many of so many would be more than a run may take away on its own (contract section 5). */
export const exceedsDeactivationLimit = (leaving: number, active: number): boolean =>
  leaving > deactivationLimit.count && leaving > deactivationLimit.share * active;

/** A group of the directory as it is kept here. */
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

/** What makes the kept groups those of the directory that have members here. */
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
