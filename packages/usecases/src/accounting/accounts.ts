import { conflictOn } from '@portal/db/database-error';
import { accountsCsv } from '@portal/domain/accounting/account-list';
import type {
  AccountChange,
  AccountImport,
  AccountInput,
  MerchandiseAccount,
} from '@portal/domain/accounting/merchandise';
import type { ListedAccount } from '@portal/domain/accounting/merchandise-lines';
import { notFound } from '@portal/domain/errors';
import type { UserContext } from '@portal/platform/context';
import { taskOf } from '@portal/platform/sandbox/task';
import { type AccountList, accountListOf, changeAccounts } from './account-list.ts';
import type { run } from './accounts-import-task.ts';
import { recordAudit } from './audit.ts';
import { taskLimits, workOnUpload } from './work-on-upload.ts';

const importing = taskOf<typeof run>(new URL('accounts-import-task.ts', import.meta.url), taskLimits);

/** An account and the version of the list that contains it. */
export interface VersionedAccount {
  account: MerchandiseAccount;
  version: number;
}

export const listAccounts = (ctx: UserContext): Promise<AccountList> => ctx.read(accountListOf);

/** Throws 409 `CONFLICT` if the list already has the number or the name, and `LIMIT_REACHED`. */
export const createAccount = (ctx: UserContext, input: AccountInput): Promise<VersionedAccount> =>
  orTaken(() =>
    ctx.tx(async (tx) => {
      const { list, addedIds } = await changeAccounts(tx, ctx.tenantId, () => ({ added: [input] }));
      await recordAudit(tx, ctx, {
        action: 'merchandise.account_create',
        tenantId: ctx.tenantId,
        target,
        summary: `Added the account ${input.number}.`,
      });
      return { account: { id: addedIds[0] ?? '', ...input }, version: list.version };
    }),
  );

/** Throws 404, and 409 `CONFLICT` if another account has the number or the name. */
export const updateAccount = (ctx: UserContext, id: string, change: AccountChange): Promise<VersionedAccount> =>
  orTaken(() =>
    ctx.tx(async (tx) => {
      const { list, changes } = await changeAccounts(tx, ctx.tenantId, ({ accounts }) => {
        const before = accountWith(accounts, id);
        const after = { ...before, ...change };
        return { changed: isSame(after, before) ? [] : [after] };
      });
      const account = changes.changed[0] ?? accountWith(list.accounts, id);
      if (changes.changed.length > 0)
        await recordAudit(tx, ctx, {
          action: 'merchandise.account_update',
          tenantId: ctx.tenantId,
          target,
          summary: `Changed the account ${account.number}.`,
        });
      return { account, version: list.version };
    }),
  );

/** Throws 404. */
export const deleteAccount = (ctx: UserContext, id: string): Promise<void> =>
  ctx.tx(async (tx) => {
    const { changes } = await changeAccounts(tx, ctx.tenantId, ({ accounts }) => ({
      removed: [accountWith(accounts, id)],
    }));
    await recordAudit(tx, ctx, {
      action: 'merchandise.account_delete',
      tenantId: ctx.tenantId,
      target,
      summary: `Deleted the account ${changes.removed[0]?.number}.`,
    });
  });

/** The list as a CSV file for spreadsheets and for `importAccounts`. */
export async function exportAccounts(ctx: UserContext): Promise<{ name: string; bytes: Uint8Array }> {
  const { accounts } = await listAccounts(ctx);
  await ctx.tx((tx) =>
    recordAudit(tx, ctx, {
      action: 'merchandise.accounts_export',
      tenantId: ctx.tenantId,
      summary: `Exported the list of ${accounts.length} accounts.`,
    }),
  );
  return { name: 'Konten.csv', bytes: Buffer.from(`\ufeff${accountsCsv(accounts)}`) };
}

/**
 * Replaces the list with the accounts of a file, completely or not at all. Accounts with an unchanged number keep their id. With `isTrial`
 * it changes nothing and returns the counts. Throws 400 with the code of the file's fault or `ROW_ERRORS`, 429 and 503.
 */
export async function importAccounts(
  ctx: UserContext,
  bytes: Uint8Array,
  { isTrial }: { isTrial: boolean },
): Promise<AccountImport> {
  const wanted = JSON.parse(Buffer.from(await workOnUpload(ctx, importing, bytes)).toString()) as ListedAccount[];
  if (isTrial) return countsOf(differenceOf((await listAccounts(ctx)).accounts, wanted));
  return ctx.tx(async (tx) => {
    const { changes } = await changeAccounts(tx, ctx.tenantId, ({ accounts }) => differenceOf(accounts, wanted));
    const { added, changed, removed } = countsOf(changes);
    await recordAudit(tx, ctx, {
      action: 'merchandise.accounts_import',
      tenantId: ctx.tenantId,
      target,
      summary: `Imported the account list: ${added} added, ${changed} changed, ${removed} removed.`,
    });
    return { added, changed, removed };
  });
}

const target = { type: 'module', id: 'merchandise-export' } as const;

function accountWith(accounts: readonly MerchandiseAccount[], id: string): MerchandiseAccount {
  const account = accounts.find((candidate) => candidate.id === id);
  if (!account) throw notFound();
  return account;
}

const isSame = (a: ListedAccount, b: ListedAccount): boolean => a.number === b.number && a.name === b.name;

function differenceOf(before: readonly MerchandiseAccount[], wanted: readonly ListedAccount[]) {
  const byNumber = new Map(before.map((account) => [account.number, account]));
  const numbers = new Set(wanted.map(({ number }) => number));
  return {
    added: wanted.filter(({ number }) => !byNumber.has(number)),
    changed: wanted.flatMap((account) => {
      const known = byNumber.get(account.number);
      return known && !isSame(known, account) ? [{ ...known, ...account }] : [];
    }),
    removed: before.filter(({ number }) => !numbers.has(number)),
  };
}

const countsOf = ({ added, changed, removed }: ReturnType<typeof differenceOf>): AccountImport => ({
  added: added.length,
  changed: changed.length,
  removed: removed.length,
});

const orTaken = <T>(work: () => Promise<T>): Promise<T> =>
  work().catch(
    conflictOn({
      merchandise_accounts_number_unique: ['CONFLICT', 'Another account already has this number.'],
      merchandise_accounts_name_unique: ['CONFLICT', 'Another account already has this name.'],
    }),
  );
