import { busy } from '@portal/domain/errors';
import { secretChange, type SecretInput } from '@portal/domain/secret-input';
import type { RecordAudit } from './audit.ts';
import type { UserContext } from './context.ts';
import { consumeOrThrow, type RateLimit } from './rate-limit.ts';

/** Each kind of settings by itself: who tries the directory may still try the mail. */
const limitOf = (action: string, each: 'tenant' | 'user'): RateLimit => ({
  name: `${action} per ${each}`,
  max: 10,
  windowSec: 60,
});
/** Where each user has settings of their own: what many users of a tenant try together. */
const limitOfAll = (action: string): RateLimit => ({ name: `${action} of all users`, max: 60, windowSec: 60 });

/** Settings that are about to be tried. */
export interface SettingsTest<Action extends string> {
  action: Action;
  /** Of the area whose settings they are. */
  recordAudit: RecordAudit<Action>;
  /** Whose settings: `mail` or `directory`. */
  subject: string;
  /** `host:port`; null for the service's own server. */
  server: string | null;
  input: SecretInput;
  hasStoredSecret: boolean;
  /** Whose tries are counted together: those of the tenant, unless each user has settings of their own. */
  each?: 'tenant' | 'user';
}

const refusal = (waitSec: number) =>
  busy('These settings were tested too often. Please wait before you test them again.', waitSec);

/**
 * To be called before anything is dialled: counts the test against the limit of its tenant or user and notes for the audit log which server
 * gets what. Throws 429 beyond ten a minute, and beyond sixty of all users of a tenant.
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
          ? `Tried ${subject} settings that leave it to the service’s own server.`
          : `Tried ${subject} settings at the server ${server} ${withWhat(test)}.`,
    });
  });
}

function withWhat({ input, hasStoredSecret }: Pick<SettingsTest<string>, 'input' | 'hasStoredSecret'>): string {
  const change = secretChange(input);
  if (change.kind === 'set') return 'with a password that was entered';
  return change.kind === 'keep' && hasStoredSecret ? 'with the stored password' : 'without a password';
}
