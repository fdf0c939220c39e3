import { readFileSync } from 'node:fs';
import { Pool } from 'pg';
import { openTransport } from '@portal/mail/transport';
import { plainDial } from '@portal/testing/servers/plain-dial';

// Sends mails over ten pooled connections and does nothing else. Arguments: port, number of mails, a file with their content, and the
// address of a database. With a database, minimal statements also read and settle each digest in it.
const [port, count] = process.argv.slice(2, 4).map(Number);
const [file, databaseUrl] = process.argv.slice(4);
const content =
  file === undefined
    ? { subject: 'Erinnerung: Reminder', text: 'Sie wollten erinnert werden.\n'.repeat(10) }
    : (JSON.parse(readFileSync(file, 'utf8')) as { subject: string; text: string; html: string });
const transport = openTransport(
  {
    host: '127.0.0.1',
    port: port ?? 0,
    security: 'none',
    username: null,
    password: null,
    fromAddress: 'portal@example.org',
    fromName: null,
    replyTo: null,
    verifyTls: true,
    dial: plainDial,
  },
  { maxConnections: 10 },
);
interface Digest {
  id: string;
  tenantId: string;
  userId: string;
  alertId: string;
}

const pool = new Pool({ connectionString: databaseUrl, max: 10, pipeline: true });
const { rows: digests } =
  databaseUrl === undefined
    ? { rows: [] }
    : await pool.query<Digest>(
        `select id, tenant_id as "tenantId", user_id as "userId", data->>'alertId' as "alertId" from mails where kind = 'tenders/digest'`,
      );

if (databaseUrl !== undefined) {
  // Restores the state before sending: pending matches have an index of their own.
  await pool.query('update tender_matches set notified_at = null, is_told = false');
  await pool.query('vacuum analyze');
}

/** One transaction of a tenant. */
async function inTenant(tenantId: string, statements: { name: string; text: string; values: string[] }[]) {
  const client = await pool.connect();
  const all = [`begin; set local portal.tenant = '${tenantId}'`, ...statements, 'commit'];
  await Promise.all(all.map((statement) => client.query(statement)));
  client.release();
}

const mayOpen = `select array(select module_key from disabled_modules), array(select level from module_grants where user_id = $1)`;
const wants = `select digest from tender_preferences where user_id = $1`;
const tells = `
  select m.reasons, n.title, n.buyer_name, n.region, n.source_url, t.deadline_at from tender_matches m
  join tender_notices n on n.tender_id = m.tender_id and n.is_primary join tender_search t on t.tender_id = m.tender_id
  where m.alert_id = $1 and m.notified_at is null limit 50`;
const isSent = `update mails set state = 'sent', settled_at = now() where id = $1`;
const wasSent = `update tender_matches set notified_at = now(), is_told = true where alert_id = $1 and notified_at is null`;

let sent = 0;
await Promise.all(
  Array.from({ length: 20 }, async () => {
    while (sent < (count ?? 0)) {
      const digest = digests[sent];
      sent += 1;
      const nth = sent;
      if (digest) {
        await inTenant(digest.tenantId, [{ name: 'may open', text: mayOpen, values: [digest.userId] }]);
        await inTenant(digest.tenantId, [{ name: 'wants', text: wants, values: [digest.userId] }]);
        await inTenant(digest.tenantId, [{ name: 'tells', text: tells, values: [digest.alertId] }]);
      }
      await transport.send({
        to: { address: `person-${nth}@example.org`, name: 'Person' },
        ...content,
        subject: `${content.subject} ${nth}`,
        messageId: `<${nth}@example.org>`,
      });
      if (digest)
        await inTenant(digest.tenantId, [
          { name: 'is sent', text: isSent, values: [digest.id] },
          { name: 'was sent', text: wasSent, values: [digest.alertId] },
        ]);
    }
  }),
);
transport.close();
await pool.end();
