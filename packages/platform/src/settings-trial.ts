import { busy } from '@portal/domain/errors';
import { secretChange, type SecretInput } from '@portal/domain/secret-input';
import type { RecordAudit } from './audit.ts';
import type { UserContext } from './context.ts';
import { consumeOrThrow, type RateLimit } from './rate-limit.ts';

/** Each kind of settings has its own limit: tests of the directory do not use up those of the mail server. */
const limitOf = (action: string, each: 'tenant' | 'user'): RateLimit => ({
  name: `${action} per ${each}`,
  max: 10,
  windowSec: 60,
});
/** For settings that each user has: the limit for all users of a tenant together. */
const limitOfAll = (action: string): RateLimit => ({ name: `${action} of all users`, max: 60, windowSec: 60 });

/** Settings to be tested. */
export interface SettingsTest<Action extends string> {
  action: Action;
  /** Audit log of the settings' area. */
  recordAudit: RecordAudit<Action>;
  /** Kind of settings for the audit log, such as `mail` or `directory`. */
  subject: string;
  /** `host:port`; null for the service's own server. */
  server: string | null;
  input: SecretInput;
  hasStoredSecret: boolean;
  /** Counts tests per tenant, or per user if each user has their own settings. */
  each?: 'tenant' | 'user';
}

const refusal = (waitSec: number) =>
  busy('These settings were tested too often. Please wait before you test them again.', waitSec);

/**
 * Call this before connecting: counts the test for its tenant or user, and writes to the audit log which server gets which secret. Throws
 * 429 above ten tests a minute, and above sixty a minute for all users of a tenant.
 */
export async function beginSettingsTest<Action extends string>(
  ctx: UserContext,
  test: SettingsTest<Action>,
): Promise<void> {
  const { action, recordAudit, subject, server, each = 'tenant' } = test;
  const limit = limitOf(action, each);
  const counted = each === 'user' ? ctx.actor.id : ctx.tenantId;
  await ctx.tx(async (tx) => {
    await consumeOrThrow(tx, limit, counted, refusal);
    if (each === 'user') await consumeOrThrow(tx, limitOfAll(action), ctx.tenantId, refusal);
    await recordAudit(tx, ctx, {
      action,
      tenantId: ctx.tenantId,
      summary:
        server === null
          ? `Tried ${subject} settings that use the service’s own server.`
          : `Tried ${subject} settings at the server ${server} ${secretOf(test)}.`,
    });
  });
}

function secretOf({ input, hasStoredSecret }: Pick<SettingsTest<string>, 'input' | 'hasStoredSecret'>): string {
  const change = secretChange(input);
  if (change.kind === 'set') return 'with a password that was entered';
  return change.kind === 'keep' && hasStoredSecret ? 'with the stored password' : 'without a password';
}
