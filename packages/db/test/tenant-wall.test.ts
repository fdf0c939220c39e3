import { Client } from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { newId } from '@portal/domain/ids';
import { testDatabase } from '@portal/testing/database';

const { ownerUrl } = await testDatabase();
const owner = new Client({ connectionString: ownerUrl });
beforeAll(() => owner.connect());
afterAll(() => owner.end());

const us = { tenant: newId(), account: newId() };
const them = { tenant: newId(), account: newId() };
type Who = typeof us;

interface Table {
  name: string;
  /** Columns that must not be null, each with a unique value. */
  key: Record<string, string>;
  /** Column with the row's tenant; null for platform tables. */
  tenant: string | null;
  /** Whether tenants see only a part of it. */
  isPartlySeen: boolean;
}

/** Rows of platform tables that only this account sees. In other partly visible tables, tenants see no such rows. */
const ownRows: Record<string, (who: Who) => Record<string, string>> = {
  personal_tender_search: ({ account }) => ({ only_source: `'mailbox:${account}'` }),
  rss_feeds: ({ tenant, account }) => ({ tenant_id: `'${tenant}'`, user_id: `'${account}'` }),
  tender_changes: () => ({ tender_id: `(select id from tenders)` }),
  tender_notices: ({ account }) => ({ is_public: 'false', source_key: `'mailbox:${account}'` }),
  tender_sources: ({ account }) => ({ key: `'mailbox:${account}'` }),
  tenders: ({ account }) => ({ only_source: `'mailbox:${account}'` }),
};
/** Further rows that such a row needs. */
const neighbours: Record<string, [table: string, (who: Who) => Record<string, string>][]> = {
  tender_changes: [['tenders', (who) => ownRows['tenders']?.(who) ?? {}]],
  tender_sources: [
    ['tender_mailboxes', ({ tenant, account }) => ({ tenant_id: `'${tenant}'`, user_id: `'${account}'` })],
  ],
};

const valueOf = (type: string): string =>
  ({
    uuid: 'gen_random_uuid()',
    text: 'gen_random_uuid()::text',
    date: 'current_date',
    bytea: `'x'`,
    'timestamp with time zone': 'now()',
  })[type] ?? (/^(integer|bigint|smallint)$/.test(type) ? '1' : `(enum_range(null::${type}))[1]`);

/** All other constraints are dropped, so that a row needs only its key and its tenant. */
const tables = new Map<string, Table>();
beforeAll(async () => {
  await owner.query(`do $$ declare each record; begin
    for each in select conrelid::regclass as name, conname from pg_constraint
      where connamespace = 'public'::regnamespace and contype in ('c', 'f')
    loop execute format('alter table %s drop constraint %I', each.name, each.conname); end loop;
    for each in select a.attrelid::regclass as name, a.attname from pg_attribute a join pg_class c on c.oid = a.attrelid
      where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and a.attnum > 0 and a.attnotnull and not exists (
        select from pg_index i where i.indrelid = c.oid and i.indisprimary and a.attnum = any(i.indkey))
    loop execute format('alter table %s alter column %I drop not null', each.name, each.attname); end loop;
    end $$`);
  const { rows } = await owner.query<Omit<Table, 'key'> & { key: Record<string, string> }>(`
    select c.relname as name,
      case when c.relname = 'tenants' then 'id' else (
        select a.attname from pg_attribute a where a.attrelid = c.oid and a.attname = 'tenant_id' and p.polcmd = '*') end as tenant,
      p.polcmd = 'r' and pg_get_expr(p.polqual, c.oid) <> 'true' as "isPartlySeen",
      (select json_object_agg(a.attname, format_type(a.atttypid, null)) from pg_index i
        join pg_attribute a on a.attrelid = c.oid and a.attnum = any(i.indkey) where i.indrelid = c.oid and i.indisprimary) as key
    from pg_class c join pg_policy p on p.polrelid = c.oid and p.polname = 'tenant'
    where c.relnamespace = 'public'::regnamespace`);
  for (const row of rows)
    tables.set(row.name, {
      ...row,
      key: Object.fromEntries(Object.entries(row.key).map(([name, type]) => [name, valueOf(type)])),
    });
});

function insertion(name: string, values: Record<string, string>): string {
  const all = { ...tables.get(name)?.key, ...values };
  return `insert into ${name} (${Object.keys(all).join(', ')}) values (${Object.values(all).join(', ')})`;
}

/** Number of rows that a statement touched; `refused` if a right or policy forbids it, or another SQLSTATE. */
async function attempt(statement: string): Promise<number | string> {
  await owner.query('savepoint attempt');
  try {
    return (await owner.query(statement)).rowCount ?? 0;
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : '';
    return code === '42501' ? 'refused' : code;
  } finally {
    await owner.query('rollback to savepoint attempt');
  }
}

async function as(role: string, who?: Who): Promise<void> {
  await owner.query(`set local role ${role}`);
  if (who)
    await owner.query(`select set_config('portal.tenant', $1, true), set_config('portal.account', $2, true)`, [
      who.tenant,
      who.account,
    ]);
}

/** All holes in the wall around a table, after an optional mutation of the table. */
async function holesIn(table: Table, mutation?: string): Promise<string[]> {
  const { name, tenant } = table;
  await owner.query('begin');
  try {
    if (mutation !== undefined) await owner.query(mutation);
    return await (tenant === null ? holesInPlatformTable(table) : holesInTenantTable(name, tenant));
  } finally {
    await owner.query('rollback');
  }
}

/** The names of the attempts with an unexpected outcome. */
async function unexpected(expected: Record<string, [statement: string, outcome: unknown]>): Promise<string[]> {
  const holes: string[] = [];
  for (const [what, [statement, outcome]] of Object.entries(expected)) {
    const actual = await attempt(statement);
    const isExpected = Array.isArray(outcome) ? outcome.includes(actual) : actual === outcome;
    if (!isExpected) holes.push(`${what}: ${actual}`);
  }
  return holes;
}

async function holesInTenantTable(name: string, tenant: string): Promise<string[]> {
  const rowOf = (who: Who) => insertion(name, { [tenant]: `'${who.tenant}'` });
  await as('portal_across');
  for (const who of [us, them]) await owner.query(rowOf(who));
  await as('portal_app', us);
  const theirs = `where ${tenant} = '${them.tenant}'`;
  return unexpected({
    'sees its own': [`select from ${name}`, 1],
    'sees others': [`select from ${name} ${theirs}`, 0],
    'changes others': [`update ${name} set ${tenant} = '${us.tenant}' ${theirs}`, [0, 'refused']],
    'removes others': [`delete from ${name} ${theirs}`, [0, 'refused']],
    'adds to others': [rowOf(them), 'refused'],
    'gives to others': [`update ${name} set ${tenant} = '${them.tenant}' where ${tenant} = '${us.tenant}'`, 'refused'],
  });
}

async function holesInPlatformTable({ name, isPartlySeen }: Table): Promise<string[]> {
  const own = ownRows[name];
  await as('portal_across');
  for (const [neighbour, values] of neighbours[name] ?? []) await owner.query(insertion(neighbour, values(them)));
  await owner.query(insertion(name, own?.(them) ?? {}));
  const seen = `select from ${name}`;
  const [column = ''] = Object.keys(tables.get(name)?.key ?? {});
  await as('portal_app', them);
  const holes = await unexpected({ 'sees its own': [seen, own || !isPartlySeen ? 1 : 0] });
  await as('portal_app', us);
  return [
    ...holes,
    ...(await unexpected({
      'sees others': [seen, isPartlySeen ? 0 : 1],
      changes: [`update ${name} set ${column} = ${column}`, 'refused'],
      removes: [`delete from ${name}`, 'refused'],
      adds: [insertion(name, own?.(us) ?? {}), 'refused'],
    })),
  ];
}

it('no table lets a tenant see, change, remove or add rows of another tenant', async () => {
  expect(tables.size).toBeGreaterThan(50);
  const holes: Record<string, string[]> = {};
  for (const table of tables.values()) holes[table.name] = await holesIn(table);
  expect(Object.entries(holes).filter(([, found]) => found.length > 0)).toEqual([]);
});

it('finds a hole after each loss or weakening of a row policy', async () => {
  const unnoticed: string[] = [];
  let mutations = 0;
  for (const table of tables.values()) {
    const { name } = table;
    const mutationsOfTable = [
      ...(table.tenant === null && !table.isPartlySeen ? [] : [`alter table ${name} disable row level security`]),
      ...(table.isPartlySeen ? [`alter policy tenant on ${name} using (true)`] : []),
      ...(table.tenant === null
        ? [`grant insert, update, delete on ${name} to portal_app`]
        : [
            `alter policy tenant on ${name} using (true)`,
            `alter policy tenant on ${name} with check (true)`,
            `alter policy tenant on ${name} using (true) with check (true)`,
            `create policy another on ${name} to portal_app using (true)`,
          ]),
      // If tenants see no rows, dropping the policy changes nothing.
      ...(table.isPartlySeen && !ownRows[name] ? [] : [`drop policy tenant on ${name}`]),
    ];
    mutations += mutationsOfTable.length;
    for (const mutation of mutationsOfTable)
      if ((await holesIn(table, mutation)).length === 0) unnoticed.push(mutation);
  }
  expect(mutations).toBeGreaterThan(250);
  expect(unnoticed).toEqual([]);
});
