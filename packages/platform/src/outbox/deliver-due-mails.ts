import { eq } from 'drizzle-orm';
import { tenants } from '@portal/db/schema/tenants';
import { SECOND } from '@portal/domain/time';
import type { TenantContext } from '../context.ts';
import { deliver, type End } from './delivery.ts';
import type { OutboxMails } from './mail.ts';
import { nudgeMails } from './queue-mail.ts';
import { ownServerOf, serviceSettings } from './smtp-settings-of.ts';

/** After this time a delivery yields to the other mail route, and then to other tenants. */
const usualTurnMs = 30 * SECOND;

/**
 * Sends the due mails of one tenant's outbox until none is left or its turn is over; it then queues itself behind other tenants.
 * Mails are claimed, sent outside any transaction, and settled. If a worker dies in between, its leases expire. Throws the signal's
 * reason if it had to stop early.
 */
export async function deliverDueMails(
  ctx: TenantContext,
  { kinds, signal, turnMs = usualTurnMs }: { kinds: OutboxMails; signal: AbortSignal; turnMs?: number },
): Promise<void> {
  const turn = { signal, turnMs };
  let ends: End[];
  do {
    const tenantName = await nameOfTenant(ctx);
    const own = await ownServerOf(ctx);
    const service = serviceSettings(ctx.config);
    const known = { kinds, ownServer: own?.version ?? null, tenantName };
    const dailyLimit = service && ctx.config.mailDailyPerTenant;
    // First and separately, so that a tenant's own server cannot delay mails that use the service's server.
    ends = [await deliver(ctx, service, { ...known, route: 'service', dailyLimit }, turn)];
    if (own) ends.push(await deliver(ctx, own.settings(), { ...known, route: 'tenant', dailyLimit: null }, turn));
  } while (ends.includes('outdated') && !ends.includes('turn over'));
  if (ends.includes('turn over')) await nudgeMails(ctx, ctx.tenantId);
}

async function nameOfTenant(ctx: TenantContext): Promise<string> {
  const [tenant] = await ctx.read((db) =>
    db.select({ name: tenants.name }).from(tenants).where(eq(tenants.id, ctx.tenantId)),
  );
  return tenant?.name ?? '';
}
