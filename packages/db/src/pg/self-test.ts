import { sql } from 'drizzle-orm';
import type { PoolClient } from 'pg';
import { newId } from '@portal/domain/ids';
import { isUnreachable } from '../database-error.ts';
import { prepared } from '../prepared.ts';
import { acrossRoleName, appRoleName } from '../roles.ts';
import { acrossPreamble, tenantPreamble } from './preamble.ts';
import { runAlone } from './transaction.ts';

const whomIServe = prepared<Record<string, never>>()('portal_self_test', (db) =>
  db
    .select({ answer: sql<string>`current_user || ' ' || current_setting('portal.tenant', true)` })
    .from(sql`(values (1)) as one`),
);

/**
 * Asks a new connection, in one flush, whom its statements serve: one tenant, another, all of them, and then nobody, in
 * whose name the server must refuse to answer. Throws unless each heard its own. A release of the driver or a proxy that
 * sends things in another way then serves nobody, instead of serving one tenant's rows to another.
 */
export async function testTenantWall(client: PoolClient): Promise<void> {
  const [one, other] = [newId(), newId()];
  const answers = await Promise.allSettled([
    runAlone(client, tenantPreamble(one), whomIServe, {}),
    runAlone(client, tenantPreamble(other), whomIServe, {}),
    runAlone(client, acrossPreamble, whomIServe, {}),
    ask(client, 'select current_user as answer'),
    ask(client, `select current_setting('portal.tenant')::uuid as answer`),
  ]);
  const heard = answers.map((answer) => {
    if (answer.status === 'fulfilled') return answer.value.map((row) => row.answer).join();
    if (isUnreachable(answer.reason)) throw answer.reason;
    return 'refused';
  });
  const expected = [`${appRoleName} ${one}`, `${appRoleName} ${other}`, `${acrossRoleName} `, appRoleName, 'refused'];
  if (heard.join('; ') !== expected.join('; '))
    throw new Error(
      'A connection to the database does not keep tenants apart and is refused: the database driver, or a proxy in between, does not do what this release of Portal relies on.',
    );
}

const ask = async (client: PoolClient, statement: string) => (await client.query<{ answer: unknown }>(statement)).rows;
