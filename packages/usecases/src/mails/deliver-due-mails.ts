import { setTimeout as pause } from 'node:timers/promises';
import { eq } from 'drizzle-orm';
import { tenants } from '@portal/db/schema/tenants';
import { PortalError } from '@portal/domain/errors';
import { SECOND } from '@portal/domain/time';
import { MailFailure } from '@portal/mail/mail-failure';
import { mailDomain, messageIdFor } from '@portal/mail/message-id';
import type { SmtpSettings } from '@portal/mail/smtp-settings';
import { type MailTransport, openTransport } from '@portal/mail/transport';
import { smtpSettingsOf } from '../mail-settings/smtp-settings-of.ts';
import type { TenantCtx } from '../run/context.ts';
import type { Metrics } from '../run/metrics.ts';
import { claimMails, type ClaimedMail, leaseSec, postponeDueMails, type Settlement, settleMails } from './outbox.ts';
import { type AddressedMail, renderQueuedMail, retryPausesOf, UnmailableError } from './render-queued-mail.ts';
import { settleTogether } from './settle-together.ts';

/** Connections to one tenant's mail server. */
const maxConnections = 10;
/** Mails of one tenant under way at once: while each connection carries one, others are written, wait or are settled. */
const maxLanes = 2 * maxConnections;
/** Leaves a third of the lease for rendering and settling. */
const sendTimeoutMs = ((leaseSec * 2) / 3) * SECOND;
/** How long a tenant's outbox rests when its mail server lets nothing through. */
const closedPauseSec = 30;
/** Changed settings of a tenant's mail server count after this long even in the middle of a long delivery. */
const settingsAgeMs = 30 * SECOND;
/** A mail whose workers keep dying is not tried for ever. */
const maxInterruptions = 20;

/** Failures of the way out, not of one mail: the next mail would fare no better. */
const waysOutClosed = new Set<string>([
  'connect',
  'timeout',
  'certificate',
  'auth',
  'protocol',
] satisfies MailFailure['failure'][]);

interface Delivering {
  signal: AbortSignal;
  countMail: Metrics['countMail'];
}

/**
 * Sends what is due in one tenant's outbox until nothing is left. Each mail is claimed, sent outside any transaction, and settled;
 * a worker that dies in between leaves a lease that runs out. Throws the signal's reason when it had to stop early.
 */
export async function deliverDueMails(ctx: TenantCtx, { signal, countMail }: Delivering): Promise<void> {
  const settings = await smtpSettingsOf(ctx);
  if (!settings) return endUnconfigured(ctx, { signal, countMail });
  const tenantName = await nameOfTenant(ctx);
  const transport = openTransport(settings, { maxConnections, overallTimeoutMs: sendTimeoutMs });
  const settle = settleTogether(ctx);
  const underWay = new Set<Promise<void>>();
  let isClosed = false;
  let isEmpty = false;
  let trouble: unknown;
  // The first mail goes alone: a closed way out costs one try, not ten.
  let lanes = 1;

  const deliver = async (mail: ClaimedMail): Promise<void> => {
    const settlement = await sendMail(ctx, mail, { settings, transport, tenantName });
    const failure = settlement.outcome === 'sent' ? null : settlement.failure;
    if (failure === null || failure === 'recipient') lanes = maxLanes;
    else if (waysOutClosed.has(failure)) isClosed = true;
    countMail(mail.kind, settlement.outcome);
    await stubbornly(ctx, mail, () => settle(mail, settlement));
  };

  try {
    const renewAt = performance.now() + settingsAgeMs;
    while (!isClosed && trouble === undefined && !signal.aborted && performance.now() < renewAt) {
      const room = lanes - underWay.size;
      // Half the lanes at a time: a claim for each single mail would cost the database more than the mail.
      const claimed = room >= lanes / 2 ? await claimMails(ctx, room) : [];
      for (const mail of claimed) {
        const work = deliver(mail)
          .catch((error: unknown) => {
            trouble ??= error;
          })
          .finally(() => underWay.delete(work));
        underWay.add(work);
      }
      isEmpty = underWay.size === 0;
      if (isEmpty) break;
      await Promise.race(underWay);
    }
    await Promise.all(underWay);
    if (isClosed) await postponeDueMails(ctx, closedPauseSec);
    else if (trouble !== undefined) throw trouble;
    else signal.throwIfAborted();
  } finally {
    transport.close();
  }
  if (!isClosed && !isEmpty) await deliverDueMails(ctx, { signal, countMail });
}

async function sendMail(
  ctx: TenantCtx,
  mail: ClaimedMail,
  { settings, transport, tenantName }: { settings: SmtpSettings; transport: MailTransport; tenantName: string },
): Promise<Settlement> {
  const facts = { mailId: mail.id, kind: mail.kind, tenantId: ctx.tenantId, requestId: ctx.requestId, try: mail.tries };
  if (mail.interruptions > maxInterruptions) {
    ctx.log.error(facts, 'a mail was interrupted too often and was given up');
    return { outcome: 'failed', failure: 'interrupted', message: 'Sending this mail was interrupted too often.' };
  }
  let written: AddressedMail;
  try {
    written = await renderQueuedMail(ctx, mail, tenantName);
  } catch (error) {
    if (!(error instanceof UnmailableError)) throw error;
    const { outcome, failure, message, cause } = error;
    ctx.log[outcome === 'failed' ? 'error' : 'info']({ ...facts, failure, err: cause }, 'mail not written');
    return { outcome, failure, message };
  }
  const { recipient, remember, ...content } = written;
  try {
    await transport.send({
      ...contentOf(content),
      to: { address: recipient.address, name: recipient.displayName },
      messageId: messageIdFor(`${ctx.tenantId}/${mail.key}`, mailDomain(settings.fromAddress)),
    });
    ctx.log.info(facts, 'mail sent');
    return { outcome: 'sent', remember: (tx) => remember(tx, true) };
  } catch (error) {
    if (!(error instanceof MailFailure)) throw error;
    const { failure, message } = error;
    const afterSec = error.retry ? retryPausesOf(mail.kind)[mail.tries - 1] : undefined;
    ctx.log.warn({ ...facts, failure, reason: message, retryAfterSec: afterSec ?? null }, 'mail not sent');
    const end = afterSec === undefined ? { outcome: 'failed' as const } : { outcome: 'postponed' as const, afterSec };
    return { ...end, failure, message, remember: (tx) => remember(tx, false) };
  }
}

const contentOf = ({ subject, text, html }: Omit<AddressedMail, 'recipient' | 'remember'>) => ({
  subject,
  text,
  ...(html === undefined ? {} : { html }),
});

/** A mail that went out and cannot be settled goes out again: worth a few tries while the lease lasts. */
async function stubbornly(ctx: TenantCtx, mail: ClaimedMail, settle: () => Promise<boolean>): Promise<void> {
  for (let pauseMs = 250; ; pauseMs *= 2) {
    try {
      const isOurs = await settle();
      if (!isOurs)
        ctx.log.warn({ mailId: mail.id, tenantId: ctx.tenantId }, 'a mail’s lease ran out before it was settled');
      return;
    } catch (error) {
      const mayPass = error instanceof PortalError && error.kind === 'unavailable';
      if (!mayPass || pauseMs > 4 * SECOND) throw error;
      await pause(pauseMs);
    }
  }
}

async function endUnconfigured(ctx: TenantCtx, { signal, countMail }: Delivering): Promise<void> {
  for (;;) {
    signal.throwIfAborted();
    const claimed = await claimMails(ctx, 100);
    if (claimed.length === 0) return;
    const message = 'No mail server is configured, neither for the tenant nor for the service.';
    const settlement: Settlement = { outcome: 'not_configured', failure: 'not_configured', message };
    await settleMails(
      ctx,
      claimed.map((mail) => ({ mail, settlement })),
    );
    for (const { kind } of claimed) countMail(kind, 'not_configured');
  }
}

async function nameOfTenant(ctx: TenantCtx): Promise<string> {
  const [tenant] = await ctx.read((db) =>
    db.select({ name: tenants.name }).from(tenants).where(eq(tenants.id, ctx.tenantId)),
  );
  return tenant?.name ?? '';
}
