import { runMigrations } from 'bullmq';
import { readMigrationFiles } from 'drizzle-orm/migrator';
import { Client } from 'pg';
import { advisoryLocks } from './advisory-locks.ts';
import { prepareAppLogin } from './app-login.ts';
import { migrationsFolder } from './migrations.ts';
import { grantRights } from './rights.ts';
import { acrossRoleName, appRoleName, queueSchema } from './roles.ts';

const rolesSql = `
create role ${appRoleName} nologin nosuperuser nobypassrls;
create role ${acrossRoleName} nologin nosuperuser nobypassrls;
grant ${appRoleName}, ${acrossRoleName} to current_user;`.trim();

export interface MigrationOptions {
  /** The apps' address if it differs: the migration creates or updates its login. */
  appUrl?: string;
  log?: (line: string) => void;
  /** Folder with other migrations, such as those of an earlier release. */
  folder?: string;
}

/**
 * Brings the database at `url` to this release: roles, tables, forced row security, rights.
 * Safe to repeat, and to call from several processes at once. Needs the owner's login.
 */
export async function migrateDatabase(
  url: string,
  { appUrl, log, folder = migrationsFolder }: MigrationOptions = {},
): Promise<void> {
  const client = new Client({
    connectionString: url,
    application_name: 'portal-migrate',
    connectionTimeoutMillis: 10_000,
  });
  // The statement under way fails as well; without a listener, the process would end before that is reported.
  client.on('error', () => undefined);
  await client.connect();
  try {
    const { rows } = await client.query<{ version: number }>(
      `select current_setting('server_version_num')::int as version`,
    );
    if ((rows[0]?.version ?? 0) < 150_000) throw new Error('Portal needs PostgreSQL 15 or newer.');
    await client.query('select pg_advisory_lock($1)', [advisoryLocks.migration]);
    await makeRoles(client);
    await migrateOneByOne(client, folder);
    await runMigrations(client, queueSchema);
    await forceRowSecurity(client);
    await grantRights(client);
    if (appUrl !== undefined) await prepareAppLogin(client, appUrl);
    log?.('The database is up to date.');
  } finally {
    await client.end();
  }
}

/** The applied migrations, in the format of the library's own `migrate`. */
const journalSql = `
create schema if not exists drizzle;
create table if not exists drizzle.__drizzle_migrations (id serial primary key, hash text not null, created_at bigint)`;

/**
 * Runs each migration in its own transaction. The library would run all of them in one, and the running apps would wait for the
 * first migration's locks until the last migration has finished: eleven seconds with a million rows, instead of at most one and a half.
 * `pnpm soak upgrade` measures it.
 */
async function migrateOneByOne(client: Client, migrationsFolder: string): Promise<void> {
  await client.query(journalSql);
  const { rows } = await client.query<{ latest: string | null }>(
    'select max(created_at) as latest from drizzle.__drizzle_migrations',
  );
  const latest = Number(rows[0]?.latest ?? -1);
  for (const { sql, hash, folderMillis } of readMigrationFiles({ migrationsFolder })) {
    if (folderMillis <= latest) continue;
    await client.query('begin');
    try {
      for (const statement of sql) await client.query(statement);
      await client.query('insert into drizzle.__drizzle_migrations (hash, created_at) values ($1, $2)', [
        hash,
        folderMillis,
      ]);
      await client.query('commit');
    } catch (error) {
      // If the connection is gone, so is the transaction.
      await client.query('rollback').catch(() => undefined);
      throw error;
    }
  }
}

async function makeRoles(client: Client): Promise<void> {
  // From PostgreSQL 16 on, the creator of a role is a member of it but may not become it.
  const { rows: versions } = await client.query<{ version: number }>(
    `select current_setting('server_version_num')::int as version`,
  );
  const maySet = (versions[0]?.version ?? 0) >= 160_000 ? "'set'" : "'member'";
  for (const role of [appRoleName, acrossRoleName]) {
    const { rows } = await client.query<{ login: boolean; bypass: boolean; super: boolean }>(
      `select rolcanlogin as login, rolbypassrls as bypass, rolsuper as super from pg_roles where rolname = $1`,
      [role],
    );
    const found = rows[0];
    if (found && (found.bypass || found.super)) {
      throw new Error(
        `The role ${role} bypasses row security. Run as a database administrator: alter role ${role} nosuperuser nobypassrls;`,
      );
    }
    try {
      // Two databases of one server may be migrated at the same time: they share roles but not our lock.
      if (!found) {
        await client.query(
          `do $$ begin create role ${role} nologin nosuperuser nobypassrls; exception when duplicate_object or unique_violation then null; end $$`,
        );
      }
      await client.query(`do $$ begin
        if not pg_has_role(current_user, '${role}', ${maySet}) then grant ${role} to current_user; end if;
        exception when unique_violation then null; end $$`);
    } catch (cause) {
      throw new Error(
        `This database login may not create the roles that Portal needs. Run as a database administrator, then start again:\n${rolesSql.replace('current_user', await currentUser(client))}`,
        { cause },
      );
    }
  }
}

async function currentUser(client: Client): Promise<string> {
  const { rows } = await client.query<{ name: string }>('select quote_ident(current_user) as name');
  return rows[0]?.name ?? 'current_user';
}

/** Policies bind the owner of a table only when forced; drizzle-kit enables but does not force them. */
async function forceRowSecurity(client: Client): Promise<void> {
  const { rows } = await client.query<{ name: string }>(
    `select quote_ident(relname) as name from pg_class
     where relnamespace = 'public'::regnamespace and relkind in ('r', 'p') and relrowsecurity and not relforcerowsecurity`,
  );
  for (const { name } of rows) await client.query(`alter table public.${name} force row level security`);
}
