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

/** A person on the stage, the account found for it, and who holds what it wants. */
interface Candidate {
  person: DirectoryPerson;
  byId: KnownAccount | null;
  /** Another account of the username, here or elsewhere. */
  usernameHolder: { account: KnownAccount; tenantId: string; isClaimed: boolean } | null;
  /** Another account of the e-mail address, anywhere. */
  emailHolderId: string | null;
}

/** Names that change hands within a preview, where nothing is written. */
export interface GivenUp {
  usernames: Set<string>;
  emails: Set<string>;
}

/**
 * Decides about some of the people on the stage, given by their directory ids. `areSwaps`: they give each other names, all at once; otherwise what somebody
 * holds is taken.
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
  // Usernames and addresses are unique across tenants, so this has to look at all of them.
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
    // By directory id first, then by username; one that another entry of the directory has under its id is that one's.
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
      username: isDuplicateName ? 'twice' : holder ? stateOf(holder, ctx.tenantId) : 'free',
      isEmailFree: !isDuplicate('email', duplicates.emails) && (emailHolderId === null || isEmailOwn || isEmailGivenUp),
      isExcluded: account !== null && excluded.has(account.username),
    });
  });
}

const stateOf = (holder: NonNullable<Candidate['usernameHolder']>, tenantId: string) =>
  holder.tenantId !== tenantId ? 'elsewhere' : holder.account.ldapDn === null ? 'local' : 'directory';

const noSwaps = { usernames: new Set<string>(), emails: new Set<string>() };

/** Directory ids of those who get the username they want, and account ids of those who give up their address. */
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
  // Whoever is excluded by a name that is not given up is left as it is, with its address.
  const mayStay = (person: DirectoryPerson, { username }: KnownAccount): boolean =>
    excluded.has(username) && !usernames.has(person.directoryId);
  return {
    usernames,
    emails: new Set(
      candidates.flatMap(({ person, byId }) =>
        byId && byId.email !== null && byId.email !== person.email && !mayStay(person, byId) ? [byId.id] : [],
      ),
    ),
  };
}

/** What the plans of swaps leave free for others: names and addresses given up and not taken again. */
export function givenUpBy(plans: AccountPlan[]): GivenUp {
  const updates = plans.filter((plan) => plan.kind === 'update');
  const given = (field: 'username' | 'email'): Set<string> => {
    const kept = new Set(updates.map(({ values }) => values[field]));
    return new Set(
      updates.flatMap(({ account }) => (account[field] === null || kept.has(account[field]) ? [] : [account[field]])),
    );
  };
  return { usernames: given('username'), emails: given('email') };
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

/** One parameter, whatever their number. */
const isOneOf = (column: PgColumn, values: (string | null)[]): SQL =>
  sql`${column} = any(${sql.param(values.filter((value) => value !== null))}::text[])`;

/** Each look is one for keys in an index: of a stage the server has no statistics, and joins it would order badly. */
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
