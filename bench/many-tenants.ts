import { Client } from 'pg';
import { breakpoints } from '@portal/domain/dashboards/grid';
import { TenderFilters } from '@portal/domain/tenders/filters';

/** Accounts of each tenant, the first of them an administrator. */
export const accountsPerTenant = 100;

/** Public tenders, which all tenants share: their number does not follow that of the tenants. */
const tenders = 5_000;

/**
 * Copies of an insert: each adds one row for every account. All rows of the first copy are older than those of the second, so that the rows
 * of a tenant lie as far apart on disk as they do when everybody works at the same time.
 */
interface Filling {
  copies?: number;
  insert: string;
}

const layout = JSON.stringify(
  Object.fromEntries(
    breakpoints.map((breakpoint) => [
      breakpoint,
      [0, 1].map((n) => ({
        i: `00000000-0000-7000-8000-00000000000${n}`,
        x: 0,
        y: n * 6,
        w: 2,
        h: 6,
        minW: 1,
        minH: 2,
      })),
    ]),
  ),
);

const filters = JSON.stringify(TenderFilters.parse({ text: { all: ['Reinigung'] } }));

/** One account in ten wants mails of its reminders, has a saved search and a calendar; the numbers of servers and clouds are a tenant's. */
const fillings: Filling[] = [
  {
    insert: `insert into users (id, tenant_id, username, email, display_name, first_name, last_name, role, last_login_at)
      select id, tenant_id, name, name || '@example.org', 'Person Nr. ' || n, 'Person', 'Nr. ' || n,
        case when n = 1 then 'ADMIN' else 'USER' end::role, now() - n * interval '1 minute' from people`,
  },
  {
    insert: `insert into sessions (id, tenant_id, user_id, expires_at, ip, user_agent)
      select uuidv7(), tenant_id, id, now() + interval '20 days', '192.0.2.7', 'Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0' from people`,
  },
  {
    insert: `insert into groups (id, tenant_id, internal_name)
      select uuidv7(), id, 'Group ' || n from generate_series(1, 5) n, tenants`,
  },
  {
    insert: `insert into group_members (tenant_id, group_id, user_id)
      select p.tenant_id, g.id, p.id from people p join groups g on g.tenant_id = p.tenant_id and g.internal_name = 'Group ' || 1 + p.n % 5`,
  },
  {
    insert: `insert into module_grants (id, tenant_id, module_key, group_id)
      select uuidv7(), tenant_id, key, id from groups, unnest(array['virtualization', 'cloud-status', 'tender-radar', 'calendar']) key`,
  },
  {
    insert: `insert into dashboard_tabs (id, tenant_id, user_id, name, position, grid_version, layouts, layout_revision, layout_updated_at)
      select uuidv7(), tenant_id, id, 'Dashboard', 0, 2, '${layout}', 1, now() from people`,
  },
  {
    insert: `insert into dashboard_widgets (id, tenant_id, tab_id, type, config)
      select uuidv7(), tenant_id, id, type, config::jsonb from dashboard_tabs, (values
        ('favorites', '{"columns": 6}'), ('embedded-page', '{"url": "https://example.org/1", "title": "Seite", "reloadIntervalSec": 600}')) w (type, config)`,
  },
  {
    insert: `insert into favorites (id, tenant_id, widget_id, title, url, position)
      select uuidv7(), tenant_id, id, 'Lesezeichen ' || n, 'https://example.org/' || n, n from dashboard_widgets, generate_series(0, 1) n
      where type = 'favorites'`,
  },
  {
    // Every other one is done, the rest is due within a year.
    copies: 2,
    insert: `insert into reminders (id, tenant_id, user_id, title, due_at, occurrence_id, email_enabled, email_queued_at, done_at)
      select uuidv7(), tenant_id, id, 'Reminder', case $1 when 1 then now() - interval '9 days' else now() + (1 + random() * 364) * interval '1 day' end,
        uuidv7(), n % 10 = 0, case $1 when 1 then now() - interval '9 days' end, case $1 when 1 then now() - interval '8 days' end from people`,
  },
  {
    insert: `insert into snoozed_reminders (id, tenant_id, user_id, reminder_id, title, due_at)
      select uuidv7(), tenant_id, user_id, id, title, due_at from reminders where done_at is not null and email_enabled`,
  },
  {
    copies: 2,
    insert: `insert into audit_entries (id, tenant_id, at, actor_id, actor_name, action, target_type, target_id, summary, ip)
      select uuidv7(), tenant_id, now() - (200 - 90 * $1 + random()) * interval '1 day', id, name,
        case $1 when 1 then 'auth.login' else 'users.update' end, 'user', id::text, 'Person Nr. ' || n || ' signed in.', '192.0.2.7' from people`,
  },
  {
    // One in a hundred waits for its next try.
    insert: `insert into mails (id, tenant_id, kind, key, user_id, data, state, due_at, settled_at, counted_on)
      select uuidv7(), tenant_id, 'accounts/welcome', 'accounts/welcome/' || id, id, '{}', case when n = 7 then 'queued' else 'sent' end::mail_state,
        now() + interval '6 hours', case when n <> 7 then now() - random() * interval '29 days' end, current_date - 3 from people`,
  },
  {
    insert: `insert into mail_days (id, tenant_id, day, counted)
      select uuidv7(), id, current_date - n, 3 from generate_series(1, 5) n, tenants`,
  },
  {
    insert: `insert into runs (id, tenant_id, kind, payload, state, due_at, started_at, finished_at, created_at)
      select uuidv7(), id, 'monitoring.poll', jsonb_build_object('tenantId', id), 'succeeded', at, at, at, at
      from (select id, now() - n * interval '2 days' as at from generate_series(10, 1, -1) n, tenants) r`,
  },
  {
    insert: `insert into monitored_servers (id, tenant_id, kind, name, address, auth_method, username, verify_tls, poll_interval_min, is_active)
      select uuidv7(), id, 'backup', 'server ' || n, 'https://10.0.0.' || n, 'password', 'root', true, 5, true from generate_series(1, 5) n, tenants`,
  },
  {
    insert: `insert into server_statuses (id, tenant_id, run_id, state, checked_at, last_ok_at, headline, facts, rules, not_examined, changes, missed,
        took_ms, memory)
      select id, tenant_id, uuidv7(), 'ok', now(), now(), 'OK', '[]', '[]', '[]', '[]', 0, 100, '{}' from monitored_servers`,
  },
  {
    insert: `insert into server_history (tenant_id, server_id, at, state, cpu, memory)
      select tenant_id, id, date_trunc('hour', now()) - n * interval '5 minutes', 'ok', 10, 20 from generate_series(12, 1, -1) n, monitored_servers`,
  },
  {
    insert: `insert into poll_plans (tenant_id, next_poll_at) select id, now() + random() * interval '1 day' + interval '1 day' from tenants`,
  },
  {
    insert: `insert into cloud_instances (id, tenant_id, customer_name, status_url, slot_sec, next_check_at, last_check_state, checked_at)
      select uuidv7(), id, 'Customer ' || n, 'https://cloud' || n || '.example.org/status.php', 3599 * random(),
        now() + (1 + random()) * interval '1 day', 'ok', now() from generate_series(1, 10) n, tenants`,
  },
  {
    copies: 2,
    insert: `insert into cloud_transitions (id, tenant_id, instance_id, at, "from", "to", reason)
      select uuidv7(), tenant_id, id, now() - (50 - 20 * $1 - random()) * interval '1 day', case $1 when 1 then 'ok' else 'failed' end::cloud_check_state,
        case $1 when 1 then 'failed' else 'ok' end::cloud_check_state, 'netz' from cloud_instances`,
  },
  {
    insert: `insert into ldap_configs (id, tenant_id, server_url, base_dn, sync_interval_min, next_sync_at)
      select uuidv7(), id, 'ldaps://10.0.0.9', 'dc=example,dc=org', 60, now() + (1 + random()) * interval '1 day' from tenants`,
  },
  {
    insert: `insert into invoice_mailboxes (id, tenant_id, host, port, security, username, folder, is_active, box_id, next_fetch_at)
      select uuidv7(), id, '10.0.0.8', 993, 'tls', 'rechnung', 'INBOX', true, uuidv7(), now() + (1 + random()) * interval '1 day' from tenants`,
  },
  {
    insert: `insert into invoice_mails (id, tenant_id, box_id, uid_validity, uid, fingerprint, is_settled)
      select uuidv7(), tenant_id, box_id, '1', n, uuid_send(uuidv7()), true from generate_series(1, 10) n, invoice_mailboxes`,
  },
  {
    insert: `insert into invoices (id, tenant_id, mail_id, state, format, number, date, seller, currency, total_cents, payable_cents, received_at)
      select uuidv7(), tenant_id, id, 'new', 'xrechnung', 'RE-' || uid, current_date, 'Lieferant ' || uid, 'EUR', 11900, 11900, now() from invoice_mails`,
  },
  {
    insert: `insert into calendar_sources (id, tenant_id, user_id, name, kind, origin, url, color, is_active)
      select uuidv7(), tenant_id, id, 'Calendar', 'ics', 'https://calendar.example.org', 'sealed', '#2563eb', true from people where n % 10 = 3`,
  },
  {
    insert: `insert into tender_mailboxes (id, tenant_id, user_id, host, port, security, username, folder, is_active, next_fetch_at)
      select uuidv7(), tenant_id, id, '10.0.0.8', 993, 'tls', 'alerts', 'INBOX', true, now() + (1 + random()) * interval '1 day' from people where n = 9`,
  },
  {
    insert: `insert into saved_searches (id, tenant_id, user_id, name, filters, question, bounds, term_labels, term_questions, compiler_version)
      select uuidv7(), tenant_id, id, 'Search', '${filters}', to_tsquery('german', 'Reinigung'), '', '{}', '{}', 1 from people where n % 10 = 1`,
  },
  {
    insert: `insert into tender_matches (tenant_id, search_id, tender_id, kind, reasons, matched_at, notified_at, is_told)
      select s.tenant_id, s.id, t.id, 'digest', '{}', now() - interval '20 days', now() - interval '19 days', true
      from (select id from tenders limit 2) t, saved_searches s`,
  },
  {
    insert: `insert into tender_triage (tenant_id, user_id, tender_id, is_read)
      select p.tenant_id, p.id, t.id, true from (select id from tenders limit 2) t, people p where n % 10 = 1`,
  },
];

/** The same tenders in every database, published within the last year. */
const tenderRows = `
  with r as (
    select gen_random_uuid() as id, now() - n * interval '105 minutes' as at, now() + (${tenders} / 10 - n) * interval '105 minutes' as due,
      (array['Unterhaltsreinigung der Schule', 'Dachdeckerarbeiten am Rathaus', 'Lieferung von Software', 'Wartung der Heizung'])[1 + n % 4] || ' Nr. ' || n as title
    from generate_series(${tenders}, 1, -1) n),
  tender as (insert into tenders (id) select id from r),
  notice as (
    insert into tender_notices (id, tender_id, is_primary, source_key, is_public, notice_key, source_notice_id, notice_version, portal_ids,
      is_correction, is_cancelled, form, title, buyer_name, cpv_codes, cpv_divisions, nuts_codes, bundeslaender, bundesland, is_nationwide,
      published_at, deadlines, lots, hash)
    select gen_random_uuid(), id, true, 'ted', true, id::text, id::text, 1, '{}', false, false, 'competition', title, 'Stadt Musterhausen',
      '{90910000}', '{90}', '{DEA11}', '{NW}', 'NW', false, at, '[]', '[]', '' from r)
  insert into tender_search (tender_id, published_at, deadline_at, deadline_is_date_only, open_until, is_open, source_keys, bundeslaender,
    is_nationwide, cpv_divisions, titles, document)
  select id, at, due, false, due, due > now(), '{ted}', '{NW}', false, '{90}', lower(title), to_tsvector('german', title) from r`;

/** Fills a migrated, empty database with tenants of equal size. Returns the id of the first, and of its administrator. */
export async function fillWithTenants(url: string, tenants: number): Promise<{ tenantId: string; adminId: string }> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    // The rows refer to each other by how they are made, so nothing is checked again.
    await client.query(`set session_replication_role = replica; set synchronous_commit = off; set maintenance_work_mem = '512MB';
      set work_mem = '256MB'; select setseed(0.5)`);
    const indexes = await dropIndexes(client);
    await client.query(
      `insert into tenants (id, name) select uuidv7(), 'Tenant ' || n from generate_series(1, ${tenants}) n`,
    );
    await client.query(`insert into tender_sources (key) values ('ted')`);
    await client.query(tenderRows);
    await client.query(`create unlogged table people as
      select uuidv7() as id, t.id as tenant_id, n, 'person' || n || '.' || right(t.id::text, 12) as name
      from generate_series(1, ${accountsPerTenant}) n, tenants t order by n, t.id`);
    for (const { copies = 1, insert } of fillings) {
      for (let copy = 1; copy <= copies; copy += 1) await client.query(insert.replaceAll('$1', String(copy)));
    }
    for (const index of indexes) await client.query(index);
    await client.query('drop table people');
    await client.query('vacuum analyze');
    await client.query('checkpoint');
    const { rows } = await client.query<{ tenantId: string; adminId: string }>(
      `select tenant_id as "tenantId", users.id as "adminId" from users join tenants on tenants.id = tenant_id
       where tenants.name = 'Tenant 1' and role = 'ADMIN'`,
    );
    const [first] = rows;
    if (!first) throw new Error('the first tenant has no administrator');
    return first;
  } finally {
    await client.end();
  }
}

/** Drops the indexes that no constraint needs, because building one is faster than keeping it. Returns their definitions. */
async function dropIndexes(client: Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string; definition: string }>(
    `select indexrelid::regclass::text as name, pg_get_indexdef(indexrelid) as definition from pg_index join pg_class on pg_class.oid = indexrelid
     where relnamespace = 'public'::regnamespace and not exists (select from pg_constraint where conindid = indexrelid)`,
  );
  for (const { name } of rows) await client.query(`drop index ${name}`);
  return rows.map(({ definition }) => definition);
}
