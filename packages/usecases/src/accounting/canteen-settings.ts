import { sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { canteenSettings } from '@portal/db/schema/accounting/canteen';
import { canteenDefaults, type CanteenSettings } from '@portal/domain/accounting/canteen';
import { newId } from '@portal/domain/ids';
import type { UserContext } from '@portal/platform/context';
import { recordAudit } from './audit.ts';

/** The settings of the current tenant; the defaults until they are set. */
export async function storedCanteenSettings(db: Pick<Tx, 'select'>): Promise<CanteenSettings> {
  const { beraternummer, mandantennummer, lohnart, target, sign } = canteenSettings;
  const [stored] = await db.select({ beraternummer, mandantennummer, lohnart, target, sign }).from(canteenSettings);
  return stored ?? canteenDefaults;
}

export const getCanteenSettings = (ctx: UserContext): Promise<CanteenSettings> => ctx.read(storedCanteenSettings);

/** Replaces the tenant's settings. */
export async function putCanteenSettings(ctx: UserContext, settings: CanteenSettings): Promise<CanteenSettings> {
  await ctx.tx(async (tx) => {
    const values = { ...settings, updatedAt: sql`now()` };
    await tx
      .insert(canteenSettings)
      .values({ id: newId(), tenantId: ctx.tenantId, ...values })
      .onConflictDoUpdate({ target: canteenSettings.tenantId, set: values });
    await recordAudit(tx, ctx, {
      action: 'canteen.settings',
      tenantId: ctx.tenantId,
      target: { type: 'module', id: 'canteen-billing' },
      summary: 'Changed the settings of canteen billing.',
    });
  });
  return settings;
}
