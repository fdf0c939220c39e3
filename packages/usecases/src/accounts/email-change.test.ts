import { sql } from 'drizzle-orm';
import { expect, it } from 'vitest';
import { emailTokens } from '@portal/db/schema/accounts/sessions';
import { newId } from '@portal/domain/ids';
import { queueMail } from '@portal/platform/outbox/queue-mail';
import { testRuntime } from '@portal/testing/runtime';
import { confirmEmail } from './email-change.ts';
import { hashToken, makeToken } from './links.ts';
import { emailChangedMail } from './mails/email-changed.ts';

const { runtime, make, system } = await testRuntime();

/** A link that confirms the pending address of a new account in this tenant. */
async function linkOf(tenantId: string): Promise<string> {
  const token = makeToken();
  const email = `${newId()}@example.org`;
  const inAnHour = new Date(Date.now() + 3_600_000);
  const { id: userId } = await make.user({ tenantId, pendingEmail: email, pendingEmailUntil: inAnHour });
  await runtime.database.inTenant(tenantId).tx(async (tx) => {
    const { mailId } = await queueMail(tx, emailChangedMail, {
      tenantId,
      key: newId(),
      userId,
      data: { address: email },
    });
    const link = { id: newId(), tenantId, userId, email, mailId, tokenHash: hashToken(token) };
    await tx.insert(emailTokens).values({ ...link, expiresAt: sql`now() + interval '1 hour'` });
  });
  return token;
}

it('a link confirms an address only while the tenant is active', async () => {
  const [active, resting] = [await make.tenant(), await make.tenant({ isActive: false })];
  await expect(confirmEmail(system(), await linkOf(active.id))).resolves.toBeUndefined();
  await expect(confirmEmail(system(), await linkOf(resting.id))).rejects.toMatchObject({ code: 'TOKEN_INVALID' });
});
