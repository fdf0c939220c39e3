import { and, eq, type SQL, sql } from 'drizzle-orm';
import type { PgColumn } from 'drizzle-orm/pg-core';
import type { Tx } from '@portal/db/open';
import { users } from '@portal/db/schema/accounts/users';
import type { DirectoryPerson } from '@portal/domain/directory/person';
import { type AccountPlan, type KnownAccount, movesThatWork, planAccount } from '@portal/domain/directory/plan';
import type { TenantContext } from '@portal/platform/context';
import type { Changes } from './find-changes.ts';
import type { DirectoryRead } from './read-directory.ts';
import { checkStage, type Stage, stagedPeople } from './stage.ts';

/** A person on the stage, the matching account, and the accounts that hold the person's name and address. */
interface Candidate {
  person: DirectoryPerson;
  byId: KnownAccount | null;
  /** Another account with the username, in this or another tenant. */
  usernameHolder: { account: KnownAccount; tenantId: string; isClaimed: boolean } | null;
  /** Another account with the e-mail address, in any tenant. */
  emailHolderId: string | null;
}

/** Names that swaps in a preview give up, because a preview writes nothing. */
export interface GivenUp {
  usernames: Set<string>;
  emails: Set<string>;
}

/**
 * Plans the accounts of these people (directory ids) on the stage. With `areSwaps` they exchange names all at once; otherwise a name
 * that another account holds counts as taken.
 */
export async function planAccounts(
  ctx: TenantContext,
  stage: Stage,
  directoryIds: string[],
  options: {
    duplicates: Changes['duplicates'];
    excluded: Set<string>;
    isRead: DirectoryRead['isRead'];
    areSwaps?: boolean;
    givenUp?: GivenUp;
  },
): Promise<AccountPlan[]> {
  // Usernames and addresses are unique across tenants, so this reads all of them.
  const candidates = await ctx.acrossTenants('a synchronization asks which usernames and addresses are taken', (tx) =>
    readCandidates(tx, stage, directoryIds, options.isRead),
  );
  const { usernames, emails } = options.areSwaps ? swapsAmong(candidates, options.excluded) : noSwaps;
  const { duplicates, excluded, givenUp } = options;

  return candidates.map(({ person, byId, usernameHolder, emailHolderId }) => {
    const isDuplicate = (field: 'username' | 'email', winners: Map<string, string>): boolean => {
      const value = person[field];
      const winner = value === null ? undefined : winners.get(value);
      return winner !== undefined && winner !== person.directoryId;
    };
    const isUsernameGivenUp =
      person.username !== null &&
      (usernames.has(person.directoryId) || givenUp?.usernames.has(person.username) === true);
    const isEmailGivenUp =
      (emailHolderId !== null && emails.has(emailHolderId)) ||
      (person.email !== null && givenUp?.emails.has(person.email) === true);
    const isDuplicateName = isDuplicate('username', duplicates.usernames);
    // Matches by directory id first, then by username, unless the id of another entry in the directory claims that account.
    const byName =
      !byId &&
      !isDuplicateName &&
      usernameHolder?.tenantId === ctx.tenantId &&
      usernameHolder.account.ldapDn !== null &&
      !usernameHolder.isClaimed
        ? usernameHolder.account
        : null;
    const holder = byName || isUsernameGivenUp ? null : usernameHolder;
    const isEmailOwn = byName !== null && byName.id === emailHolderId;
    const account = byId ?? byName;
    return planAccount(person, account, {
      username: isDuplicateName ? 'duplicate' : holder ? stateOf(holder, ctx.tenantId) : 'free',
      isEmailFree: !isDuplicate('email', duplicates.emails) && (emailHolderId === null || isEmailOwn || isEmailGivenUp),
      isExcluded: account !== null && excluded.has(account.username),
    });
  });
}

const stateOf = (holder: NonNullable<Candidate['usernameHolder']>, tenantId: string) =>
  holder.tenantId !== tenantId ? 'elsewhere' : holder.account.ldapDn === null ? 'local' : 'directory';

const noSwaps = { usernames: new Set<string>(), emails: new Set<string>() };

/** Directory ids of the people who get their new username, and ids of the accounts that give up their address. */
function swapsAmong(all: Candidate[], excluded: Set<string>): { usernames: Set<string>; emails: Set<string> } {
  const candidates = all.filter(({ byId }) => !byId?.isSuperAdmin);
  const renamed = candidates.flatMap(({ person, byId, usernameHolder }) =>
    byId && person.username !== null && person.username !== byId.username
      ? [
          {
            id: person.directoryId,
            from: byId.username,
            to: person.username,
            holder: usernameHolder?.account.id ?? null,
            account: byId.id,
          },
        ]
      : [],
  );
  const accounts = new Set(renamed.map(({ account }) => account));
  const heldByOthers = new Set(
    renamed.filter(({ holder }) => holder !== null && !accounts.has(holder)).map(({ to }) => to),
  );
  const usernames = movesThatWork(renamed, (name) => heldByOthers.has(name));
  // An account that stays excluded by its current name keeps that name and its address.
  const staysExcluded = (person: DirectoryPerson, { username }: KnownAccount): boolean =>
    excluded.has(username) && !usernames.has(person.directoryId);
  return {
    usernames,
    emails: new Set(
      candidates.flatMap(({ person, byId }) =>
        byId && byId.email !== null && byId.email !== person.email && !staysExcluded(person, byId) ? [byId.id] : [],
      ),
    ),
  };
}

/** Names and addresses that the swaps give up and that no other swap takes. */
export function givenUpBy(plans: AccountPlan[]): GivenUp {
  const updates = plans.filter((plan) => plan.kind === 'update');
  const freed = (field: 'username' | 'email'): Set<string> => {
    const taken = new Set(updates.map(({ values }) => values[field]));
    return new Set(
      updates.flatMap(({ account }) => (account[field] === null || taken.has(account[field]) ? [] : [account[field]])),
    );
  };
  return { usernames: freed('username'), emails: freed('email') };
}

const accountColumns = {
  id: users.id,
  tenantId: users.tenantId,
  directoryId: users.directoryId,
  ldapDn: users.ldapDn,
  username: users.username,
  email: users.email,
  displayName: users.displayName,
  firstName: users.firstName,
  lastName: users.lastName,
  isActive: users.isActive,
  deactivatedBySync: users.deactivatedBySync,
  isSuperAdmin: sql<boolean>`${users.role} = 'SUPER_ADMIN'`,
};

/** Passes all values as one array parameter. */
const isOneOf = (column: PgColumn, values: (string | null)[]): SQL =>
  sql`${column} = any(${sql.param(values.filter((value) => value !== null))}::text[])`;

/** Reads each table by index keys. The server has no statistics of the stage and would order joins badly. */
async function readCandidates(
  tx: Tx,
  stage: Stage,
  directoryIds: string[],
  isRead: DirectoryRead['isRead'],
): Promise<Candidate[]> {
  await checkStage(tx, stage);
  const { rows: people } = await tx.execute<DirectoryPerson & Record<string, unknown>>(sql`
    select s.directory_id as "directoryId", s.ldap_dn as dn, s.username, s.email, s.has_bad_email as "hasBadEmail",
      s.display_name as "displayName", s.first_name as "firstName", s.last_name as "lastName"
    from ${stagedPeople(stage, 's', directoryIds)} order by s.directory_id`);
  const byId = await tx
    .select(accountColumns)
    .from(users)
    .where(and(eq(users.tenantId, stage.scope.tenantId), isOneOf(users.directoryId, directoryIds)));
  const byUsername = await tx
    .select(accountColumns)
    .from(users)
    .where(
      isOneOf(
        users.username,
        people.map(({ username }) => username),
      ),
    );
  const byEmail = await tx
    .select({ id: users.id, email: users.email })
    .from(users)
    .where(
      isOneOf(
        users.email,
        people.map(({ email }) => email),
      ),
    );

  const accountOf = new Map(byId.map((account) => [account.directoryId, account]));
  const usernameHolders = new Map(byUsername.map((account) => [account.username, account]));
  const emailHolders = new Map(byEmail.map(({ email, id }) => [email, id]));
  return people.map((person) => {
    const account = accountOf.get(person.directoryId) ?? null;
    const holder = person.username === null ? undefined : usernameHolders.get(person.username);
    const emailHolderId = person.email === null ? undefined : emailHolders.get(person.email);
    return {
      person,
      byId: account,
      usernameHolder:
        holder === undefined || holder.id === account?.id
          ? null
          : {
              account: holder,
              tenantId: holder.tenantId,
              isClaimed: holder.directoryId !== null && isRead(holder.directoryId),
            },
      emailHolderId: emailHolderId === undefined || emailHolderId === account?.id ? null : emailHolderId,
    };
  });
}
