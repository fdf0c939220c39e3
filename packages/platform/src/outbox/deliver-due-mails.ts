import { eq } from 'drizzle-orm';
import { tenants } from '@portal/db/schema/tenants';
import { SECOND } from '@portal/domain/time';
import type { TenantContext } from '../context.ts';
import { Delivery } from './delivery.ts';
import type { OutboxMails } from './mail.ts';
import { claimMails, type ClaimTerms, settleMails } from './outbox.ts';
import { nudgeMails } from './queue-mail.ts';
import { remembered } from './remembering.ts';
import { ownServerOf, serviceSettings } from './smtp-settings-of.ts';

/** A long delivery one way lets the other way, and then other tenants, have their turn after this long. */
const usualTurnMs = 30 * SECOND;

/**
 * Sends what is due in one tenant's outbox until nothing is left, or until others should have their turn: then it is queued behind them.
 * Each mail is claimed, sent outside any transaction, and settled; a worker that dies in between leaves a lease that runs out. Throws the
 * signal's reason when it had to stop early.
 */
export async function deliverDueMails(
  ctx: TenantContext,
  { kinds, signal, turnMs = usualTurnMs }: { kinds: OutboxMails; signal: AbortSignal; turnMs?: number },
): Promise<void> {
  let ends: string[];
  do {
    const tenantName = await nameOfTenant(ctx);
    const own = await ownServerOf(ctx);
    const service = serviceSettings(ctx.config);
    const known = { kinds, ownServer: own?.version ?? null, tenantName };
    const dailyLimit = service && ctx.config.mailDailyPerTenant;
    const byService = { ...known, way: 'service', dailyLimit } as const;
    // First, and apart: however a tenant's own server behaves, it does not keep back what leaves over the service's.
    ends = [
      service
        ? await new Delivery(ctx, service, byService).run(signal, turnMs)
        : await endUnconfigured(ctx, byService, signal),
    ];
    const byTenant = { ...known, way: 'tenant', dailyLimit: null } as const;
    if (own) ends.push(await new Delivery(ctx, own.settings(), byTenant).run(signal, turnMs));
  } while (ends.includes('outdated') && !ends.includes('turn over'));
  if (ends.includes('turn over')) await nudgeMails(ctx, ctx.tenantId);
}

async function endUnconfigured(
  ctx: TenantContext,
  terms: ClaimTerms,
  signal: AbortSignal,
): Promise<'empty' | 'outdated'> {
  for (;;) {
    signal.throwIfAborted();
    const { claimed, isOutdated } = await claimMails(ctx, 100, terms);
    if (claimed.length === 0) return isOutdated ? 'outdated' : 'empty';
    const message =
      terms.ownServer === null
        ? 'No mail server is configured, neither for the tenant nor for the service.'
        : 'The service has no mail server, and mails to this account are only sent over that server.';
    const settlement = { outcome: 'not_configured', failure: 'not_configured', message } as const;
    await settleMails(
      ctx,
      claimed.map((mail) => ({
        mail,
        settlement: { ...settlement, remembered: remembered(terms.kinds, mail, 'withheld') },
      })),
    );
    for (const { kind } of claimed) ctx.metrics.countMail(kind, 'not_configured');
  }
}

async function nameOfTenant(ctx: TenantContext): Promise<string> {
  const [tenant] = await ctx.read((db) =>
    db.select({ name: tenants.name }).from(tenants).where(eq(tenants.id, ctx.tenantId)),
  );
  return tenant?.name ?? '';
}
