import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { afterAll, expect, it } from 'vitest';
import { testDatabase } from '@portal/testing/database';
import { sqlState } from './database-error.ts';
import { migrateDatabase } from './migrate.ts';
import { acrossRoleName, appRoleName } from './roles.ts';

const { ownerUrl } = await testDatabase();
const logins: string[] = [];
const databases: string[] = [];

async function query<Row extends object>(url: string, text: string, options = ''): Promise<Row[]> {
  const client = new Client({ connectionString: url, options });
  await client.connect();
  try {
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end();
  }
}

afterAll(async () => {
  for (const name of databases) await query(ownerUrl, `drop database "${name}"`);
  for (const name of logins) await query(ownerUrl, `drop owned by "${name}" cascade`).catch(() => undefined);
  for (const name of logins) await query(ownerUrl, `drop role if exists "${name}"`);
});

/** The database's address with a login for the calling test; the login is dropped after the file. */
function loginUrl(password: string, name = `portal_test_${randomUUID()}`): string {
  if (!logins.includes(name)) logins.push(name);
  return Object.assign(new URL(ownerUrl), { username: name, password: encodeURIComponent(password) }).href;
}

const nameIn = (url: string): string => new URL(url).username;
const codeOf = (promise: Promise<unknown>) => promise.then(() => null, sqlState);

it('creates the login with any characters in its password', async () => {
  const appUrl = loginUrl(`it's "quoted" \\ $$ ünïcode %`);
  await migrateDatabase(ownerUrl, { appUrl });
  expect(await query(appUrl, 'select current_user as name', `-c role=${appRoleName}`)).toEqual([{ name: appRoleName }]);
  expect(await codeOf(query(appUrl, 'select from tenants'))).toBe('42501');
});

it('updates the password when the address has a new one', async () => {
  const before = loginUrl('before');
  await migrateDatabase(ownerUrl, { appUrl: before });
  const after = loginUrl('after', nameIn(before));
  await migrateDatabase(ownerUrl, { appUrl: after });
  expect(await query(after, 'select 1 as one')).toEqual([{ one: 1 }]);
  expect(await codeOf(query(before, 'select 1'))).toBe('28P01');
});

it('keeps the password and the attributes of a login with more rights', async () => {
  const right = loginUrl('right');
  await query(ownerUrl, `create role "${nameIn(right)}" login createdb password 'right'`);
  await migrateDatabase(ownerUrl, { appUrl: loginUrl('wrong', nameIn(right)) });
  await migrateDatabase(ownerUrl, { appUrl: loginUrl('wrong', nameIn(right)) });
  expect(
    await query(
      right,
      `select rolcreatedb as mighty, current_user as name from pg_roles where rolname = session_user`,
      `-c role=${acrossRoleName}`,
    ),
  ).toEqual([{ mighty: true, name: acrossRoleName }]);
});

it('does not change the login of the migration itself', async () => {
  await migrateDatabase(ownerUrl, { appUrl: ownerUrl });
  await query(ownerUrl, 'select from tenants');
});

it('can be created by an owner who is no superuser; the policies then bind the owner too', async () => {
  const migrationUrl = loginUrl('owner');
  const owner = nameIn(migrationUrl);
  const database = `${new URL(ownerUrl).pathname.slice(1)}_owned`;
  databases.push(database);
  await query(ownerUrl, `create role "${owner}" login createrole password 'owner'`);
  await query(ownerUrl, `grant ${appRoleName}, ${acrossRoleName} to "${owner}" with admin option`);
  await query(ownerUrl, `create database "${database}" owner "${owner}"`);
  const inDatabase = (url: string) => Object.assign(new URL(url), { pathname: `/${database}` }).href;
  const [url, appUrl] = [inDatabase(migrationUrl), inDatabase(loginUrl('app'))];
  await migrateDatabase(url, { appUrl });
  await migrateDatabase(url, { appUrl });

  const across = `-c role=${acrossRoleName}`;
  const entry = (days: number) =>
    `insert into audit_entries (id, at, action, summary) values (gen_random_uuid(), now() - interval '${days} days', 'x', '${days}')`;
  for (const days of [1, 399, 401, 500]) await query(appUrl, entry(days), across);
  expect(await query(appUrl, 'select portal_remove_expired_audit_entries() as removed', across)).toEqual([
    { removed: 2 },
  ]);
  expect(await query(appUrl, 'select summary from audit_entries order by at', across)).toEqual([
    { summary: '399' },
    { summary: '1' },
  ]);
  expect(await codeOf(query(appUrl, 'delete from audit_entries', across))).toBe('42501');
  expect(await codeOf(query(appUrl, 'create temporary table mine ()', across))).toBe('42501');
  expect(await codeOf(query(appUrl, `set role "${owner}"`))).toBe('42501');
});

it('names the SQL that an administrator must run if the migration may not create the login', async () => {
  const migrationUrl = loginUrl('plain');
  const plain = nameIn(migrationUrl);
  await query(ownerUrl, `create role "${plain}" login superuser password 'plain'`);
  await migrateDatabase(migrationUrl, { appUrl: loginUrl('first') });
  // A superuser could create it; the same login as a plain owner cannot.
  await query(ownerUrl, `alter role "${plain}" nosuperuser; grant "${nameIn(ownerUrl)}" to "${plain}"`);
  await query(ownerUrl, `grant ${appRoleName}, ${acrossRoleName} to "${plain}"`);
  const appUrl = loginUrl('hidden');
  const failure = await migrateDatabase(migrationUrl, { appUrl }).catch((error: unknown) => String(error));
  expect(failure).toContain(`create role "${nameIn(appUrl)}" login noinherit password '…';`);
  expect(failure).toContain(`grant ${appRoleName}, ${acrossRoleName} to "${nameIn(appUrl)}";`);
  expect(failure).not.toContain('hidden');
});
