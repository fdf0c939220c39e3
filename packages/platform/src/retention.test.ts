import { getTableName, sql } from 'drizzle-orm';
import { Client } from 'pg';
import { expect, it } from 'vitest';
import type { Tx } from '@portal/db/open';
import { merchandiseChanges } from '@portal/db/schema/accounting/merchandise';
import { emailTokens, passwordTokens, sessions } from '@portal/db/schema/accounts/sessions';
import { users } from '@portal/db/schema/accounts/users';
import { cloudOutages, cloudTransitions } from '@portal/db/schema/cloud-status/outages';
import { ldapStagedEntries } from '@portal/db/schema/directory';
import { monitoredServers, serverHistory } from '@portal/db/schema/monitoring/servers';
import { auditEntries } from '@portal/db/schema/platform/audit';
import { mailDays, mails } from '@portal/db/schema/platform/mails';
import { rateWindows, runs } from '@portal/db/schema/platform/operations';
import { reminders, snoozedReminders } from '@portal/db/schema/reminders';
import { newId } from '@portal/domain/ids';
import { testRuntime } from '@portal/testing/runtime';
import { areas } from '@portal/usecases/areas';
import { removeExpiredRows } from './retention.ts';

const retentions = areas.flatMap(({ retention = [] }) => retention);
// The removal counts rows of the whole database, so each test has its own database.
const [ofAllKinds, ofBatches, ofFailure, ofMany] = [
  await testRuntime(),
  await testRuntime(),
  await testRuntime(),
  await testRuntime(),
];
const acrossOf = ({ runtime }: typeof ofMany) => runtime.database.acrossTenants;
const ago = (days: number) => sql`now() - make_interval(days => ${days})`;

it('removes expired rows and nothing else', async () => {
  const { make, system } = ofAllKinds;
  const across = acrossOf(ofAllKinds);
  const user = await make.user({ pendingEmail: 'old@example.org', pendingEmailUntil: new Date(Date.now() - 1_000) });
  const pending = { pendingEmail: 'new@example.org', pendingEmailUntil: new Date(Date.now() + 60_000) };
  await make.user({ tenantId: user.tenantId, ...pending });
  const { tenantId, id: userId } = user;
  const row = { tenantId, userId };
  const fresh = { mail: newId(), token: newId(), run: newId(), entry: newId() };
  await make.session(user, { expiresAt: new Date(Date.now() - 1_000) });
  await make.session(user, { revokedAt: new Date() });
  const kept = await make.session(user);
  const cloud = await make.cloudInstance(user.tenantId);
  const open = await make.reminder(user, { title: 'overdue', dueAt: new Date(0) });
  await make.reminder(user, { title: 'finished', doneAt: new Date() });
  await across('a test makes old rows', async (tx) => {
    await tx.insert(mails).values([
      { id: fresh.mail, ...row, kind: 'k', key: 'fresh', state: 'sent', settledAt: ago(29) },
      { id: newId(), ...row, kind: 'k', key: 'old', state: 'sent', settledAt: ago(31) },
    ]);
    await tx.insert(mails).values({ id: newId(), ...row, kind: 'k', key: 'unsettled', createdAt: ago(90) });
    await tx.insert(passwordTokens).values([
      {
        id: fresh.token,
        ...row,
        purpose: 'reset',
        tokenHash: Buffer.from('a'),
        mailId: fresh.mail,
        expiresAt: ago(-1),
      },
      { id: newId(), ...row, purpose: 'reset', tokenHash: Buffer.from('b'), mailId: fresh.mail, expiresAt: ago(0) },
    ]);
    const link = { ...row, email: 'new@example.org', mailId: fresh.mail };
    await tx.insert(emailTokens).values([
      { id: fresh.token, ...link, tokenHash: Buffer.from('a'), expiresAt: ago(-1) },
      { id: newId(), ...link, tokenHash: Buffer.from('b'), expiresAt: ago(0) },
    ]);
    await tx.insert(mailDays).values([
      { id: newId(), tenantId, day: sql`(${ago(28)})::date` },
      { id: newId(), tenantId, day: sql`(${ago(32)})::date` },
    ]);
    await tx.insert(runs).values([
      { id: fresh.run, tenantId, kind: 'k', payload: {}, state: 'succeeded', dueAt: ago(89), finishedAt: ago(89) },
      { id: newId(), tenantId, kind: 'k', payload: {}, state: 'succeeded', dueAt: ago(91), finishedAt: ago(91) },
      ...[6, 8].map((days) => ({
        id: newId(),
        tenantId: null,
        kind: 'tenders.read-source',
        subject: 'rss:x',
        payload: {},
        state: 'succeeded' as const,
        dueAt: ago(days),
        finishedAt: ago(days),
      })),
    ]);
    await tx.insert(auditEntries).values([
      { id: fresh.entry, tenantId, at: ago(399), action: 'x', summary: 'x' },
      { id: newId(), tenantId, at: ago(401), action: 'x', summary: 'x' },
      { id: newId(), tenantId: null, at: ago(401), action: 'x', summary: 'x' },
    ]);
    await tx
      .insert(reminders)
      .values({ id: newId(), ...row, title: 'old', dueAt: ago(90), doneAt: ago(31), occurrenceId: newId() });
    await tx.insert(snoozedReminders).values([
      { id: newId(), ...row, reminderId: open.id, title: 'fresh', dueAt: ago(13) },
      { id: newId(), ...row, reminderId: open.id, title: 'old', dueAt: ago(15) },
    ]);
    const change = { tenantId, instanceId: cloud.id, from: 'ok' as const, to: 'failed' as const };
    await tx.insert(cloudTransitions).values([
      { id: newId(), ...change, at: ago(399), reason: 'fresh' },
      { id: newId(), ...change, at: ago(401), reason: 'old' },
    ]);
    const outage = { tenantId, instanceId: cloud.id, failure: 'netz', failingSince: ago(500), reportedAt: ago(500) };
    await tx.insert(cloudOutages).values([
      { id: newId(), ...outage, message: 'fresh', endedAt: ago(399) },
      { id: newId(), ...outage, message: 'old', endedAt: ago(401) },
      { id: newId(), ...outage, message: 'lasting' },
    ]);
    const server = {
      id: newId(),
      tenantId,
      kind: 'backup' as const,
      name: 'nas',
      address: 'https://nas.example.org:8007',
      authMethod: 'token' as const,
      verifyTls: true,
      pollIntervalMin: 5,
      isActive: true,
    };
    await tx.insert(monitoredServers).values(server);
    const check = { tenantId, serverId: server.id, state: 'ok' as const };
    await tx.insert(serverHistory).values([
      { ...check, at: ago(29), guests: 29 },
      { ...check, at: ago(31), guests: 31 },
    ]);
    const listed = { tenantId, version: 1, kind: 'added' as const, number: '4400' };
    await tx.insert(merchandiseChanges).values([
      { id: newId(), ...listed, name: 'fresh', createdAt: ago(29) },
      { id: newId(), ...listed, name: 'old', createdAt: ago(31) },
    ]);
    const staged = {
      tenantId,
      attempt: 1,
      directoryId: 'x',
      standing: 'live',
      ldapDn: 'uid=x',
      hasBadEmail: false,
      groups: [],
    };
    await tx.insert(ldapStagedEntries).values([
      { ...staged, runId: newId(), stagedAt: ago(2) },
      { ...staged, runId: newId() },
    ]);
    await tx.insert(rateWindows).values([
      { key: Buffer.from('a'), hits: [], expiresAt: ago(-1) },
      { key: Buffer.from('b'), hits: [], expiresAt: ago(1) },
    ]);
  });
  const removed = await removeExpiredRows(system(), retentions, new AbortController().signal);
  expect(removed).toEqual({
    'password tokens': 1,
    'email tokens': 1,
    'pending addresses': 1,
    sessions: 2,
    mails: 1,
    'mail days': 1,
    runs: 1,
    'audit entries': 2,
    'done reminders': 1,
    'reminder notices': 1,
    'changes of account lists': 1,
    'cloud transitions': 1,
    'cloud outages': 1,
    'server history': 1,
    'reads of feeds': 1,
    'payloads of tenders': 0,
    'matches of tenders': 0,
    'matches of tenders beyond the newest': 0,
    'tenders of personal sources beyond the newest': 0,
    'changes of tenders': 0,
    tenders: 0,
    'staged entries': 1,
    'rate windows': 1,
  });
  const left = await across('a test looks', async (tx) => ({
    sessions: (await tx.select({ id: sessions.id }).from(sessions)).map(({ id }) => id),
    mails: (await tx.select({ key: mails.key }).from(mails)).map(({ key }) => key).toSorted(),
    tokens: (await tx.select({ id: passwordTokens.id }).from(passwordTokens)).map(({ id }) => id),
    links: (await tx.select({ id: emailTokens.id }).from(emailTokens)).map(({ id }) => id),
    addresses: (await tx.select({ pending: users.pendingEmail }).from(users)).map(({ pending }) => pending).toSorted(),
    runs: (await tx.select({ id: runs.id, subject: runs.subject }).from(runs))
      .map((run) => run.subject ?? run.id)
      .toSorted(),
    entries: (await tx.select({ id: auditEntries.id }).from(auditEntries)).map(({ id }) => id),
    reminders: (await tx.select({ title: reminders.title }).from(reminders)).map(({ title }) => title).toSorted(),
    notices: (await tx.select({ title: snoozedReminders.title }).from(snoozedReminders)).map(({ title }) => title),
    transitions: (await tx.select({ reason: cloudTransitions.reason }).from(cloudTransitions)).map(
      ({ reason }) => reason,
    ),
    outages: (await tx.select({ message: cloudOutages.message }).from(cloudOutages))
      .map(({ message }) => message)
      .toSorted(),
    history: (await tx.select({ guests: serverHistory.guests }).from(serverHistory)).map(({ guests }) => guests),
    windows: await tx.$count(rateWindows),
    staged: await tx.$count(ldapStagedEntries),
  }));
  expect(left).toEqual({
    sessions: [kept.id],
    mails: ['fresh', 'unsettled'],
    tokens: [fresh.token],
    links: [fresh.token],
    addresses: ['new@example.org', null],
    runs: [fresh.run, 'rss:x'].toSorted(),
    entries: [fresh.entry],
    reminders: ['finished', 'overdue'],
    notices: ['fresh'],
    transitions: ['fresh'],
    outages: ['fresh', 'lasting'],
    history: [29],
    windows: 1,
    staged: 1,
  });
});

it('removes batch after batch until none is left', async () => {
  const { system } = ofBatches;
  await acrossOf(ofBatches)('a test makes old rows', (tx) =>
    tx.execute(sql`insert into rate_windows (key, hits, expires_at)
      select int4send(n), '{}', now() - interval '1 day' from generate_series(1, 12000) n`),
  );
  const removed = await removeExpiredRows(system(), retentions, new AbortController().signal);
  expect(removed['rate windows']).toBe(12_000);
});

it('continues after a failure and throws it at the end', async () => {
  const { system } = ofFailure;
  const across = acrossOf(ofFailure);
  await across('a test makes old rows', (tx) =>
    tx.insert(rateWindows).values([
      { key: Buffer.from('c'), hits: [], expiresAt: ago(1) },
      { key: Buffer.from('d'), hits: [], expiresAt: ago(-1) },
    ]),
  );
  const failing = { what: 'failing', remove: () => Promise.reject(new Error('too slow')) };
  const all = removeExpiredRows(system(), [failing, ...retentions], new AbortController().signal);
  await expect(all).rejects.toThrow('too slow');
  expect(await across('a test looks', (tx) => tx.$count(rateWindows))).toBe(1);
});

it('continues each walk where the previous portion ended', async () => {
  const places: string[] = [];
  const walked = {
    what: 'walked',
    walk: async (_tx: Tx, after: string) => {
      places.push(after.slice(-1));
      return { removed: places.length - 1, after: places.length < 3 ? `${places.length}` : null };
    },
  };
  expect(await removeExpiredRows(ofMany.system(), [walked], new AbortController().signal)).toEqual({ walked: 3 });
  expect(places).toEqual(['0', '1', '2']);
});

it('stops between two batches on abort', async () => {
  await expect(removeExpiredRows(ofMany.system(), retentions, AbortSignal.abort(new Error('stop')))).rejects.toThrow(
    'stop',
  );
});

it('reads almost no rows if none is expired, regardless of the table size', async () => {
  const { ownerUrl, system } = ofMany;
  const across = acrossOf(ofMany);
  const tables = [...retentions.flatMap((one) => ('table' in one ? [one.table] : [])), auditEntries];
  const many = 5_000;
  const owner = new Client({ connectionString: ownerUrl });
  await owner.connect();
  // Rows without references.
  await owner.query('set session_replication_role = replica');
  try {
    for (const name of new Set(tables.map((table) => getTableName(table)))) {
      const { rows } = await owner.query<{ columns: string; values: string }>(
        `select string_agg(quote_ident(attname), ',') as columns, string_agg(case
            when attname in ('finished_at', 'notified_at') then $$now() - interval '30 days'$$
            when typname ~ '^_|^jsonb$' then $$'{}'$$ when typname = 'uuid' then 'gen_random_uuid()'
            when typname ~ '^time' then $$now() + interval '1 day'$$ when typname = 'date' then 'current_date'
            when typname = 'bytea' then 'int4send(n)' when typname = 'bool' then 'false'
            when typtype = 'e' then format('enum_first(null::%s)', typname) else format('n::text::%s', typname) end, ',') as values
          from pg_attribute a join pg_type t on t.oid = atttypid
          where attrelid = $1::regclass and attnum > 0 and not attisdropped and (attname in ('finished_at', 'notified_at') or attnotnull and not atthasdef)`,
        [name],
      );
      await owner.query(
        `insert into ${name} (${rows[0]?.columns}) select ${rows[0]?.values} from generate_series(1, ${many}) n`,
      );
      await owner.query(`analyze ${name}`);
    }
  } finally {
    await owner.end();
  }
  const read: Record<string, number> = {};
  // The statistics of a connection span its transactions.
  const count = async (tx: Tx, sign: number, counts: Record<string, number>) => {
    const { rows } = await tx.execute<{ name: string; read: number }>(
      sql`select relname as name, (seq_tup_read + coalesce(idx_tup_fetch, 0))::int as read from pg_stat_xact_user_tables`,
    );
    for (const row of rows) counts[row.name] = (counts[row.name] ?? 0) + sign * row.read;
  };
  const watching = {
    ...system(),
    acrossTenants: <T>(why: string, work: (tx: Tx) => Promise<T>) =>
      across(why, async (tx) => {
        const counts = {};
        await count(tx, -1, counts);
        const result = await work(tx);
        await count(tx, 1, counts);
        for (const [name, rows] of Object.entries(counts)) read[name] = Math.max(read[name] ?? 0, Number(rows));
        return result;
      }),
  };
  await removeExpiredRows(watching, retentions, new AbortController().signal);
  for (const table of tables)
    expect(await across('a test counts', (tx) => tx.$count(table))).toBeGreaterThanOrEqual(many);
  expect(Object.entries(read).filter(([, rows]) => rows > many / 10)).toEqual([]);
  expect(Object.keys(read)).toEqual(expect.arrayContaining(tables.map((table) => getTableName(table))));
}, 30_000);
