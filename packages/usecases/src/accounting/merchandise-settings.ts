import { sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { merchandiseSettings } from '@portal/db/schema/accounting/merchandise';
import { merchandiseDefaults, MerchandiseSettings } from '@portal/domain/accounting/merchandise';
import { newId } from '@portal/domain/ids';
import type { UserContext } from '@portal/platform/context';
import { recordAudit } from './audit.ts';

/** The settings of the current tenant; the defaults until they are set. */
export async function storedMerchandiseSettings(db: Pick<Tx, 'select'>): Promise<MerchandiseSettings> {
  const [stored] = await db.select().from(merchandiseSettings);
  return stored ? MerchandiseSettings.parse(stored) : merchandiseDefaults;
}

export const getMerchandiseSettings = (ctx: UserContext): Promise<MerchandiseSettings> =>
  ctx.read(storedMerchandiseSettings);

/** Replaces the tenant's settings. */
export async function putMerchandiseSettings(
  ctx: UserContext,
  settings: MerchandiseSettings,
): Promise<MerchandiseSettings> {
  await ctx.tx(async (tx) => {
    const values = { ...settings, updatedAt: sql`now()` };
    await tx
      .insert(merchandiseSettings)
      .values({ id: newId(), tenantId: ctx.tenantId, ...values })
      .onConflictDoUpdate({ target: merchandiseSettings.tenantId, set: values });
    await recordAudit(tx, ctx, {
      action: 'merchandise.settings',
      tenantId: ctx.tenantId,
      target: { type: 'module', id: 'merchandise-export' },
      summary: `Changed the settings of the merchandise export: format ${settings.format}.`,
    });
  });
  return settings;
}
