import { sql } from 'drizzle-orm';
import type { Database } from '@portal/db/open';
import { prepared } from '@portal/db/prepared';
import { sessions } from '@portal/db/schema/accounts/sessions';
import { users } from '@portal/db/schema/accounts/users';
import { cloudInstances } from '@portal/db/schema/cloud-status/instances';
import { invoiceFiles, invoiceMails, invoices } from '@portal/db/schema/invoices';
import { reminders } from '@portal/db/schema/reminders';
import { tenants } from '@portal/db/schema/tenants';
import { newId } from '@portal/domain/ids';

type Overrides<Table extends { $inferInsert: object }> = Partial<Table['$inferInsert']>;

let counter = 0;
const unique = (): string => {
  counter += 1;
  return `${counter.toString(36)}-${newId().slice(-8)}`;
};

// Most requests of tests use a new session, so this statement is prepared.
const addSession = prepared<{ id: string; tenantId: string; userId: string }>()('test_session', (db) =>
  db
    .insert(sessions)
    .values({
      id: sql.placeholder('id'),
      tenantId: sql.placeholder('tenantId'),
      userId: sql.placeholder('userId'),
      expiresAt: sql`now() + interval '30 days'`,
    })
    .returning({ id: sessions.id }),
);

/** Makes rows with sensible, unique defaults; every override is a column. */
export function builders(database: Database) {
  const across = database.acrossTenants;

  const newTenant = (overrides: Overrides<typeof tenants> = {}) => ({
    id: newId(),
    name: `Tenant ${unique()}`,
    ...overrides,
  });

  async function tenant(overrides: Overrides<typeof tenants> = {}) {
    const values = newTenant(overrides);
    await across('a test makes a tenant', (tx) => tx.insert(tenants).values(values));
    return values;
  }

  async function user(overrides: Overrides<typeof users> = {}) {
    const own = overrides.tenantId === undefined ? newTenant() : null;
    const tenantId = overrides.tenantId ?? own?.id ?? '';
    const username = overrides.username ?? `user-${unique()}`;
    const values = {
      id: newId(),
      username,
      email: `${username}@example.org`,
      role: 'USER' as const,
      sessionVersion: 1,
      ...overrides,
      tenantId,
    };
    await across('a test makes a user', async (tx) => {
      if (own) await tx.insert(tenants).values(own);
      await tx.insert(users).values(values);
    });
    return values;
  }

  async function session(owner: { id: string; tenantId: string }, overrides: Overrides<typeof sessions> = {}) {
    const values = { id: newId(), tenantId: owner.tenantId, userId: owner.id, ip: null, userAgent: null, ...overrides };
    const { id, tenantId, userId } = values;
    if (Object.keys(overrides).length === 0)
      await database.runAcrossTenants('a test makes a session', addSession, { id, tenantId, userId });
    else
      await across('a test makes a session', (tx) =>
        tx.insert(sessions).values({ expiresAt: sql`now() + interval '30 days'`, ...values }),
      );
    return values;
  }

  async function reminder(owner: { id: string; tenantId: string }, overrides: Overrides<typeof reminders> = {}) {
    const values = {
      id: newId(),
      tenantId: owner.tenantId,
      userId: owner.id,
      title: `Reminder ${unique()}`,
      dueAt: new Date(Date.now() + 3_600_000),
      occurrenceId: newId(),
      ...overrides,
    };
    await across('a test makes a reminder', (tx) => tx.insert(reminders).values(values));
    return values;
  }

  async function cloudInstance(tenantId: string, overrides: Overrides<typeof cloudInstances> = {}) {
    const values = {
      id: newId(),
      tenantId,
      customerName: `Customer ${unique()}`,
      statusUrl: 'http://127.0.0.1:1',
      slotSec: 0,
      nextCheckAt: new Date(Date.now() + 3_600_000),
      ...overrides,
    };
    await across('a test makes a cloud instance', (tx) => tx.insert(cloudInstances).values(values));
    return values;
  }

  /** With `path`, the invoice has a file there. */
  async function invoice(
    tenantId: string,
    { path, ...overrides }: Overrides<typeof invoices> & { path?: string } = {},
  ) {
    const mailId = newId();
    const values = {
      id: newId(),
      tenantId,
      mailId,
      state: 'new' as const,
      format: 'ubl' as const,
      receivedAt: new Date(),
      ...overrides,
    };
    await across('a test makes an invoice', async (tx) => {
      const mail = { id: mailId, tenantId, boxId: newId(), uidValidity: '1', uid: 1, isSettled: true };
      await tx.insert(invoiceMails).values({ ...mail, fingerprint: Buffer.from(mailId) });
      await tx.insert(invoices).values(values);
      if (path !== undefined) {
        const file = {
          id: newId(),
          tenantId,
          invoiceId: values.id,
          position: 0,
          fileName: 'rechnung.xml',
          sizeBytes: 1,
          path,
        };
        await tx.insert(invoiceFiles).values({ ...file, type: 'application/xml', sha256: Buffer.from(path) });
      }
    });
    return values;
  }

  return { tenant, user, session, reminder, cloudInstance, invoice };
}
