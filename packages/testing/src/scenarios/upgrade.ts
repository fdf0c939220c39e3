import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import { migrateDatabase } from '@portal/db/migrate';
import { migrationsFolder } from '@portal/db/migrations';
import { newId } from '@portal/domain/ids';

export interface UpgradeResult {
  rows: number;
  migrationMs: number;
  /** Longest time of a statement of the earlier release, before and during the migration. */
  longestBeforeMs: number;
  longestMs: number;
  violations: string[];
}

/** Statements of the first release on each table. */
const reads = {
  session: `select u.id, u.username, s.id from sessions s join users u on u.id = s.user_id join tenants t on t.id = u.tenant_id where s.id = $1`,
  mails: `select id from mails where state = 'queued' and due_at <= now() order by due_at limit 40`,
  audit: `select id, summary from audit_entries order by at desc limit 20`,
};
const inserts: Record<string, (tenantId: string, userId: string) => [string, unknown[]]> = {
  users: (tenantId) => [
    `insert into users (id, tenant_id, username, email) values ($1, $2, $3, $4)`,
    [newId(), tenantId, `u-${newId()}`, `${newId()}@example.org`],
  ],
  sessions: (tenantId, userId) => [
    `insert into sessions (id, tenant_id, user_id, expires_at) values ($1, $2, $3, now() + interval '1 day')`,
    [newId(), tenantId, userId],
  ],
  mails: (tenantId, userId) => [
    `insert into mails (id, tenant_id, kind, key, user_id) values ($1, $2, 'accounts.password-changed', $3, $4)`,
    [newId(), tenantId, newId(), userId],
  ],
  audit_entries: (tenantId) => [
    `insert into audit_entries (id, tenant_id, action, summary) values ($1, $2, 'auth.login', 'Signed in')`,
    [newId(), tenantId],
  ],
  runs: (tenantId) => [
    `insert into runs (id, tenant_id, kind, payload, due_at) values ($1, $2, 'mails.deliver', '{}', now())`,
    [newId(), tenantId],
  ],
};

/** Migrates the first release's schema with many rows while statements of that release run. They still succeed afterwards. */
export async function upgradeFromTheFirst({
  url,
  rows,
  say,
}: {
  url: string;
  rows: number;
  say: (line: string) => void;
}): Promise<UpgradeResult> {
  const folder = await mkdtemp(join(tmpdir(), 'portal-upgrade-'));
  const owner = new Client({ connectionString: url });
  const old = new Client({ connectionString: url, application_name: 'earlier release' });
  await owner.connect();
  await old.connect();
  try {
    await mkdir(join(folder, 'meta'));
    const journal = JSON.parse(await readFile(join(migrationsFolder, 'meta/_journal.json'), 'utf8')) as {
      entries: { tag: string }[];
    };
    journal.entries.length = 1;
    const tag = journal.entries[0]?.tag ?? '';
    await cp(join(migrationsFolder, `${tag}.sql`), join(folder, `${tag}.sql`));
    await writeFile(join(folder, 'meta/_journal.json'), JSON.stringify(journal));
    await migrateDatabase(url, { folder });
    const columns = async () =>
      (
        await owner.query<{ name: string }>(
          `select count(*) as name from information_schema.columns where table_schema = 'public'`,
        )
      ).rows[0]?.name;
    const columnsBefore = await columns();

    const share = Math.floor(rows / 4);
    await owner.query(
      `insert into tenants (id, name) select gen_random_uuid(), 'Tenant ' || n from generate_series(1, 50) n`,
    );
    await owner.query(
      `insert into users (id, tenant_id, username, email) select gen_random_uuid(), (array(select id from tenants))[1 + n % 50], 'user-' || n, n || '@example.org' from generate_series(1, ${share}) n`,
    );
    await owner.query(
      `insert into sessions (id, tenant_id, user_id, expires_at, ip) select gen_random_uuid(), tenant_id, id, now() + interval '1 day', '192.0.2.1' from users`,
    );
    await owner.query(
      `insert into mails (id, tenant_id, kind, key, user_id, state, settled_at) select gen_random_uuid(), tenant_id, 'accounts.password-changed', id::text, id, 'sent', now() from users`,
    );
    await owner.query(
      `insert into audit_entries (id, tenant_id, action, summary) select gen_random_uuid(), tenant_id, 'auth.login', 'Signed in' from users`,
    );
    // The first release stored blank names like this.
    await owner.query(
      `update users set display_name = '', first_name = ' Anna ', last_name = ' ' where username like '%7'`,
    );
    await owner.query('analyze');
    say(`${share * 4} rows inserted`);

    const { rows: sessions } = await owner.query<{ id: string; tenantId: string; userId: string }>(
      `select id, tenant_id as "tenantId", user_id as "userId" from sessions limit 1`,
    );
    const { id = '', tenantId = '', userId = '' } = sessions[0] ?? {};
    const violations: string[] = [];
    let longest = 0;
    let written = 0;
    let deadlocks = 0;
    let isOver = false;
    const statement = async (what: string, text: string, values: unknown[] = []) => {
      const startedAt = performance.now();
      // Repeats a statement after a deadlock with the migration, as people and sweeps do.
      await old
        .query(text, values)
        .catch((error: { code?: string }) => {
          if (error.code !== '40P01') throw error;
          deadlocks += 1;
          return old.query(text, values);
        })
        .catch((error: unknown) => violations.push(`${what}: ${String(error)}`));
      longest = Math.max(longest, performance.now() - startedAt);
    };
    const round = async () => {
      await statement('reading a session', reads.session, [id]);
      await statement('reading mails', reads.mails);
      await statement('reading the audit log', reads.audit);
      for (const [table, make] of Object.entries(inserts)) {
        const [text, values] = make(tenantId, userId);
        await statement(`writing ${table}`, text, values);
        written += 1;
      }
    };
    const working = (async () => {
      while (!isOver) {
        await round();
        await pause(5);
      }
    })();
    await pause(1_000);
    const longestBeforeMs = longest;
    longest = 0;
    const startedAt = performance.now();
    await migrateDatabase(url);
    const migrationMs = performance.now() - startedAt;
    await pause(200);
    isOver = true;
    await working;
    const longestMs = longest;
    say(`${deadlocks} statements hit a deadlock and were repeated`);
    if (deadlocks > 3) violations.push(`${deadlocks} statements hit a deadlock`);
    if (longestMs > 5_000) violations.push(`a statement waited ${longestMs.toFixed(0)} ms`);
    if ((await columns()) === columnsBefore) violations.push('the migration added no column');
    // After the migration the earlier release still reads and writes.
    const writtenBefore = written;
    await round();
    if (written === writtenBefore) violations.push('nothing was written afterwards');
    const { rows: counted } = await owner.query<{ count: string }>(
      `select (select count(*) from users) + (select count(*) from sessions) + (select count(*) from mails) + (select count(*) from audit_entries) + (select count(*) from runs) as count`,
    );
    const rowCount = Number(counted[0]?.count);
    if (rowCount !== share * 4 + written) violations.push(`${rowCount} rows exist instead of ${share * 4 + written}`);
    const { rows: blank } = await owner.query(
      `select id from users where username like '%7' and (display_name is not null or first_name <> 'Anna' or last_name is not null) limit 1`,
    );
    if (blank.length > 0) violations.push('a blank name remains');
    return { rows: share * 4, migrationMs, longestBeforeMs, longestMs, violations: [...new Set(violations)] };
  } finally {
    await old.end();
    await owner.end();
    await rm(folder, { recursive: true, force: true });
  }
}
