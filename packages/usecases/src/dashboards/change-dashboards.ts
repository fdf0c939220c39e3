import { eq, sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { type Prepared, prepared } from '@portal/db/prepared';
import { users } from '@portal/db/schema/accounts/users';
import { unauthenticated } from '@portal/domain/errors';
import type { UserContext } from '@portal/platform/context';

const lockAccount = prepared<{ userId: string }>()('dashboards_lock', (db) =>
  db
    .select({ id: users.id })
    .from(users)
    .where(eq(users.id, sql.placeholder('userId')))
    .for('no key update'),
);

/**
 * A transaction that locks the account's row, so that no other request changes the caller's tabs, layouts, widgets or pictures.
 * Code that counts limits, renumbers positions or compares items with widgets runs in it; reads and sign-ins do not wait for it. With one
 * lock for all of these, two changes cannot deadlock.
 */
export const changeDashboards = <T>(ctx: UserContext, work: (tx: Tx) => Promise<T>): Promise<T> =>
  ctx.tx(async (tx) => {
    // Send the lock and the first statement of `work` in one flush; the server executes them in order.
    const [account, result] = await Promise.all([tx.run(lockAccount, { userId: ctx.actor.id }), work(tx)]);
    checkIsThere(account);
    return result;
  });

/** Like `changeDashboards` for a single statement: sends lock, statement and commit in one flush. */
export const changeDashboardsBy = <Params extends Record<string, unknown>, Row>(
  ctx: UserContext,
  statement: Prepared<Params, Row>,
  params: Params,
): Promise<Row[]> =>
  ctx.tx(async (tx) => {
    const [account, rows] = await Promise.all([
      tx.run(lockAccount, { userId: ctx.actor.id }),
      tx.runAndCommit(statement, params),
    ]);
    checkIsThere(account);
    return rows;
  });

function checkIsThere(account: unknown[]): void {
  // The account was deleted during this request, together with its dashboards.
  if (account.length === 0) throw unauthenticated();
}
