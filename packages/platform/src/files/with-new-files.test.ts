import { sql } from 'drizzle-orm';
import { Client } from 'pg';
import { expect, it } from 'vitest';
import type { Tx } from '@portal/db/open';
import { notFound } from '@portal/domain/errors';
import { newId } from '@portal/domain/ids';
import { testRuntime } from '@portal/testing/runtime';
import { withNewFiles } from './with-new-files.ts';

const { system, make, ownerUrl } = await testRuntime();
const { id: tenantId } = await make.tenant();

/** Whether a new file still exists after the change failed with this error. */
async function isKeptAfter(change: (tx: Tx) => Promise<unknown>): Promise<boolean> {
  const { files, inTenant } = system();
  const { path } = await files.write('avatars', newId(), 'webp', Buffer.from('x'), { maxBytes: 1 });
  await expect(withNewFiles(files, [path], () => inTenant(tenantId).tx(change))).rejects.toThrow();
  const file = await files.open(path);
  file?.stream.destroy();
  return file !== null;
}

it('removes a file whose change was refused by us or by the database', async () => {
  expect(await isKeptAfter(() => Promise.reject(notFound()))).toBe(false);
  expect(await isKeptAfter((tx) => tx.execute(sql`select 1 / 0`))).toBe(false);
  expect(await isKeptAfter((tx) => tx.execute(sql`set transaction read only; create table none ()`))).toBe(false);
  // A server with German messages.
  const refusal = Object.assign(new Error('doppelter Schlüsselwert'), { code: '23505', severity: 'FEHLER' });
  expect(await isKeptAfter(() => Promise.reject(refusal))).toBe(false);
});

it('keeps a file whose row may exist, because the connection was lost', async () => {
  const isKept = await isKeptAfter(async (tx) => {
    const { rows } = await tx.execute<{ pid: number }>(sql`select pg_backend_pid() as pid`);
    const owner = new Client({ connectionString: ownerUrl });
    await owner.connect();
    await owner.query('select pg_terminate_backend($1, 5000)', [rows[0]?.pid]);
    await owner.end();
  });
  expect(isKept).toBe(true);
});
