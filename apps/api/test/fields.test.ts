import { Client } from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { moduleGrants } from '@portal/db/schema/modules';
import { newId } from '@portal/domain/ids';
import { NewCustomModule } from '@portal/domain/modules/custom-modules';
import { modules } from '@portal/domain/modules/modules';
import { handle } from '@portal/platform/jobs/handler';
import { deliverDueMails } from '@portal/platform/outbox/deliver-due-mails';
import { deliverMails } from '@portal/platform/outbox/jobs';
import { kinds } from '@portal/testing/mail-kinds';
import { startTestWorker } from '@portal/testing/worker';
import { createCustomModule } from '@portal/usecases/modules/custom-modules';
import { testApp } from '../testing/app.ts';
import { bodyExample, methodOf, takesJson, withGoodBody } from './every-route.ts';
import { recordsOf } from './records.ts';

const { app, request, make, signedIn, runtime, url, ownerUrl } = await testApp();
const database = new Client({ connectionString: ownerUrl });
beforeAll(() => database.connect());
// Routes that test a mail wait for its delivery.
const worker = startTestWorker(url, {
  handlers: [handle(deliverMails, (ctx, _payload, { signal }) => deliverDueMails(ctx, { signal, kinds }))],
});
afterAll(() => worker.stop());
afterAll(() => database.end());

const routes = app.routeList.filter(({ method, config }) => method !== 'HEAD' && config.access.kind !== 'open');
type Route = (typeof routes)[number];
type Account = Awaited<ReturnType<typeof make.user>>;

/** A user who may manage every module. */
async function manager(tenantId: string): Promise<Account> {
  const account = await make.user({ tenantId });
  const rows = modules.map(({ key }) => ({
    id: newId(),
    tenantId,
    userId: account.id,
    moduleKey: key,
    level: 'MANAGE' as const,
  }));
  await runtime.database.inTenant(tenantId).tx((tx) => tx.insert(moduleGrants).values(rows));
  return account;
}

/** The callers: the owner of the record, two accounts of the same tenant, and an operator of another tenant. */
const askers: Record<string, (owner: Account) => Promise<Account>> = {
  owner: async (owner) => owner,
  USER: ({ tenantId }) => manager(tenantId),
  ADMIN: ({ tenantId }) => make.user({ tenantId, role: 'ADMIN' }),
  SUPER_ADMIN: () => make.user({ role: 'SUPER_ADMIN' }),
};

/** Makers of records; records with an owner belong to this account. */
function ownRecordsOf(account: Account): ReturnType<typeof recordsOf> {
  const user: typeof make.user = async (overrides) =>
    overrides?.avatarPath === undefined && (overrides?.tenantId ?? account.tenantId) === account.tenantId
      ? account
      : make.user(overrides);
  return {
    ...recordsOf({ make: { ...make, user }, signedIn, runtime }, account),
    '/custom-modules/:id': async () => {
      const own = NewCustomModule.parse({ name: newId(), url: 'https://wiki.example.org' });
      return (await createCustomModule(await signedIn(account), own)).id;
    },
  };
}

/** Null if this account may not have a record of this kind, or already has its only one. */
const recordOf = async (url: string, account: Account): Promise<string | null> => {
  const maker = ownRecordsOf(account)[url];
  return typeof maker === 'function' ? maker().catch(() => null) : newId();
};

const uniqueNames: Record<string, (id: string) => object> = {
  'POST /users': (id) => ({ username: id, email: `${id}@example.org` }),
  'POST /tenants': (id) => ({ name: id }),
};
const queries: Record<string, string> = {
  '/calendar/events': '?from=2026-01-01T00:00:00.000Z&to=2026-01-31T00:00:00.000Z',
};

async function ask(route: Route, as: Account, id: string, payload?: object) {
  const url = route.url.replace(/:\w+/, id) + (route.method === 'GET' ? (queries[route.url] ?? '') : '');
  const good = { ...withGoodBody(route), ...(payload && { payload }) };
  // Names that must be unique across all tenants.
  const fresh = uniqueNames[`${route.method} ${route.url}`]?.(newId());
  if (fresh) good.payload = { ...(good.payload as object), ...fresh };
  const answer = await request({ method: methodOf(route), url, as, ...good });
  const isJson = String(answer.headers['content-type']).includes('json') && answer.body !== '';
  const json: unknown = isJson ? answer.json() : null;
  return { status: answer.statusCode, body: answer.body, json, code: (json as { code?: string } | null)?.code ?? '' };
}
type Answer = Awaited<ReturnType<typeof ask>>;

/** Property names that are data: ids, module keys, hours. */
const isData = (name: string) => /[0-9-]/.test(name) || modules.some(({ key }) => key === name);

/** Dotted names of all properties in a value, including those of list entries. */
function fieldsOf(value: unknown, prefix = ''): string[] {
  if (Array.isArray(value)) return value.flatMap((each) => fieldsOf(each, prefix));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, inner]) => {
    const path = `${prefix}${isData(name) ? '*' : name}`;
    return [path, ...fieldsOf(inner, `${path}.`)];
  });
}

function shown({ status, json, code }: Answer): string {
  if (status >= 400) return `${status} ${code}`;
  if (json === null) return status === 204 ? 'done' : 'bytes';
  return [...new Set(fieldsOf(json))].toSorted().join(' ') || 'nothing';
}

/** One line per distinct answer, with the callers that get it. */
function lines(answers: Record<string, string>): string {
  const byAnswer = Map.groupBy(Object.keys(answers), (who) => answers[who] ?? '');
  return [...byAnswer].map(([answer, who]) => `  ${who.join(', ')}: ${answer}\n`).join('');
}

type Schema = z.core.JSONSchema.BaseSchema;

/** The fields of a route's body with their schemas. */
function fieldsIn(route: Route): Record<string, Schema> {
  if (route.schema?.body === undefined) return {};
  const whole = z.toJSONSchema(route.schema.body as z.ZodType, { io: 'input', unrepresentable: 'any' });
  const fields: Record<string, Schema> = {};
  const collect = ({ $ref, properties, anyOf = [], oneOf = [], allOf = [] }: Schema) => {
    Object.assign(fields, properties);
    for (const part of [...anyOf, ...oneOf, ...allOf]) collect(part);
    const referred = $ref === undefined ? undefined : whole.$defs?.[$ref.slice($ref.lastIndexOf('/') + 1)];
    if (referred) collect(referred);
  };
  collect(whole);
  return fields;
}

const elsewhere = (await make.tenant()).id;

/** The values that an account may not send, of `tenantId` and of fields with a closed set of values. */
async function refusedFields(route: Route, account: Account, id: string, plain: Answer): Promise<string[]> {
  // Tests of servers are rate limited.
  if (plain.status >= 400 || !takesJson(route) || route.url.endsWith('/test')) return [];
  const refused: string[] = [];
  for (const [field, schema] of Object.entries(fieldsIn(route))) {
    const few = schema.enum ?? (schema.type === 'boolean' ? [true, false] : []);
    for (const value of field === 'tenantId' ? [elsewhere] : few) {
      const answer = await ask(route, account, id, { ...bodyExample(route), [field]: value });
      // A combination of values or an existing record does not count as a refusal of the field.
      if (answer.status < 400 || answer.status === 409 || answer.code === 'VALIDATION_FAILED') continue;
      refused.push(`not ${field} ${value === elsewhere ? 'of another' : String(value)}: ${shown(answer)}`);
    }
  }
  return refused;
}

it('every route answers and accepts the fields of the reviewed list for each role', { timeout: 240_000 }, async () => {
  const owner = await manager((await make.tenant()).id);
  const people = new Map<string, Account>();
  for (const [name, asker] of Object.entries(askers)) people.set(name, await asker(owner));
  const ids = new Map<string, string>();
  for (const account of people.values())
    for (const url of Object.keys(ownRecordsOf(account))) {
      const id = await recordOf(url, account);
      if (id !== null && !ids.has(url)) ids.set(url, id);
    }

  const written: string[] = [];
  for (const route of routes.toSorted((a, b) => a.url.localeCompare(b.url) || a.method.localeCompare(b.method))) {
    const answers: Record<string, string> = {};
    for (const [name, asker] of Object.entries(askers)) {
      // For lists, the account with its own records sees the most.
      const isOwned = route.url.includes(':');
      if (name === 'owner' && !isOwned) continue;
      if (route.method === 'GET') {
        const as = people.get(name === 'USER' && !isOwned ? 'owner' : name) ?? owner;
        answers[name] = shown(await ask(route, as, ids.get(route.url) ?? ''));
        continue;
      }
      // A new record for each caller, because the previous caller may have changed it.
      const other = await manager((await make.tenant()).id);
      const as = await asker(other);
      const id = isOwned ? ((await recordOf(route.url, other)) ?? (await recordOf(route.url, as)) ?? '') : '';
      const plain = await ask(route, as, id);
      answers[name] = [shown(plain), ...(await refusedFields(route, as, id, plain))].join('; ');
    }
    const takes = Object.keys(fieldsIn(route)).toSorted().join(' ');
    written.push(`${route.method} ${route.url}\n${takes && `  takes ${takes}\n`}${lines(answers)}`);
  }
  await expect(written.join('')).toMatchFileSnapshot('fields.txt');
});

const planted = newId();
const plantedBy: Record<string, unknown> = {
  boolean: true,
  integer: 19_990_909,
  'timestamp with time zone': '1999-09-09T09:09:09.000Z',
};

/** Every column of the database, under its name in a body, with a value that the test can find again. */
async function everyColumn(): Promise<Record<string, unknown>> {
  const { rows } = await database.query<{ name: string; type: string }>(
    `select distinct on (column_name) column_name as name, data_type as type from information_schema.columns where table_schema = 'public'`,
  );
  const named = rows.map(({ name, type }) => [
    name.replaceAll(/_(.)/g, (_, letter: string) => letter.toUpperCase()),
    name === 'role' ? 'SUPER_ADMIN' : (plantedBy[type] ?? planted),
  ]);
  return Object.fromEntries(named) as Record<string, unknown>;
}

it('no route stores an undeclared field, from any caller', { timeout: 240_000 }, async () => {
  const columns = await everyColumn();
  expect(Object.keys(columns).length).toBeGreaterThan(200);
  const owner = await manager((await make.tenant()).id);
  const senders = [await manager(owner.tenantId), await make.user({ tenantId: owner.tenantId, role: 'ADMIN' })];
  await database.query('set role portal_across');
  const standing = async () => {
    const standings = 'id, tenant_id, role, is_active, must_change_password, username, session_version';
    return (
      await database.query(`select ${standings} from users where id = any($1) order by id`, [
        senders.map(({ id }) => id),
      ])
    ).rows;
  };
  const before = await standing();
  let taken = 0;
  for (const route of routes.filter(takesJson)) {
    const fields = fieldsIn(route);
    const unasked = Object.fromEntries(Object.entries(columns).filter(([name]) => !(name in fields)));
    const id = route.url.includes(':') ? ((await recordOf(route.url, owner)) ?? '') : '';
    for (const as of [owner, ...senders]) {
      if (as === owner && !route.url.includes(':')) continue;
      const answer = await ask(route, as, id, { ...unasked, ...bodyExample(route) });
      expect([route.url, answer.status < 500 || answer.status === 502]).toEqual([route.url, true]);
      expect(answer.body).not.toContain(planted);
      if (answer.status < 300) taken += 1;
      if (answer.status !== 403 && answer.status !== 404) break;
    }
  }
  expect(taken).toBeGreaterThan(25);
  expect(await standing()).toEqual(before);
  const { rows: tables } = await database.query<{ name: string }>(
    `select tablename as name from pg_tables where schemaname = 'public'`,
  );
  for (const { name } of tables) {
    const found = await database.query(
      `select t::text from ${name} t where t::text ~ '${planted}|1999-09-09|19990909'`,
    );
    expect([name, found.rows]).toEqual([name, []]);
  }
});
