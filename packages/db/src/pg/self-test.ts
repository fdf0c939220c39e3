import { sql } from 'drizzle-orm';
import type { PoolClient } from 'pg';
import { newId } from '@portal/domain/ids';
import { isUnreachable } from '../database-error.ts';
import { prepared } from '../prepared.ts';
import { acrossRoleName, appRoleName } from '../roles.ts';
import { acrossPreamble, tenantPreamble } from './preamble.ts';
import { runAlone, runBare } from './transaction.ts';

const whomIServe = prepared<Record<string, never>>()('portal_self_test', (db) =>
  db
    .select({
      answer: sql<string>`concat(current_user, ' ', current_setting('portal.tenant', true), ' ', current_setting('portal.account', true))`,
    })
    .from(sql`(values (1)) as one`),
);

/**
 * Asks a new connection, in one flush, whom its statements serve: an account of one tenant, another tenant, all of them, and then nobody, in
 * whose name the server must refuse to answer. Throws unless each heard its own. A release of the driver or a proxy that
 * sends things in another way then serves nobody, instead of serving one tenant's rows to another.
 */
export function testTenantWall(client: PoolClient): Promise<void> {
  const [one, other, account] = [newId(), newId(), newId()];
  return expectAnswers([
    [runAlone(client, tenantPreamble(one, account), whomIServe, {}), `${appRoleName} ${one} ${account}`],
    [runAlone(client, tenantPreamble(other), whomIServe, {}), `${appRoleName} ${other} `],
    [runAlone(client, acrossPreamble, whomIServe, {}), `${acrossRoleName}  `],
    [ask(client, 'select current_user as answer'), appRoleName],
    [ask(client, `select current_setting('portal.tenant')::uuid as answer`), 'refused'],
  ]);
}

/** The same of a connection that only serves reads across tenants. */
export const testAcrossRole = (client: PoolClient): Promise<void> =>
  expectAnswers([
    [runBare(client, whomIServe, {}), `${acrossRoleName}  `],
    [ask(client, 'select 1 as answer'), '1'],
    [runBare(client, whomIServe, {}), `${acrossRoleName}  `],
  ]);

async function expectAnswers(asked: [answer: Promise<{ answer: unknown }[]>, expected: string][]): Promise<void> {
  const answers = await Promise.allSettled(asked.map(([answer]) => answer));
  const heard = answers.map((answer) => {
    if (answer.status === 'fulfilled') return answer.value.map((row) => row.answer).join();
    if (isUnreachable(answer.reason)) throw answer.reason;
    return 'refused';
  });
  if (heard.some((answer, i) => answer !== asked[i]?.[1]))
    throw new Error(
      'A connection to the database does not keep tenants apart and is refused: the database driver, or a proxy in between, does not do what this release of Portal relies on.',
    );
}

const ask = async (client: PoolClient, statement: string) => (await client.query<{ answer: unknown }>(statement)).rows;
