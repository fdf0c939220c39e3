import { setTimeout as pause } from 'node:timers/promises';
import { eq } from 'drizzle-orm';
import { tenants } from '@portal/db/schema/tenants';
import { PortalError } from '@portal/domain/errors';
import { SECOND } from '@portal/domain/time';
import { MailError } from '@portal/mail/mail-error';
import { mailDomain, messageIdFor } from '@portal/mail/message-id';
import type { SmtpSettings } from '@portal/mail/smtp-settings';
import { type MailTransport, openTransport } from '@portal/mail/transport';
import type { TenantContext } from '../context.ts';
import type { OutboxMails } from './mail.ts';
import {
  claimMails,
  type ClaimTerms,
  type ClaimedMail,
  leaseSec,
  postponeDueMails,
  returnMails,
  type Settlement,
  settleMails,
} from './outbox.ts';
import { type AddressedMail, renderQueuedMail, retryPausesOf, UnmailableError } from './render-queued-mail.ts';
import { settleTogether } from './settle-together.ts';
import { ownServerOf, serviceSettings } from './smtp-settings-of.ts';
import type { WayOut } from './way-out.ts';

/** Connections to one tenant's mail server. */
const maxConnections = 10;
/** Mails of one tenant in the making at once: while each connection carries one, another is written or waits for it. */
const maxSending = 2 * maxConnections;
/** Together with those claimed ahead and those being settled: enough that no connection has to wait for the database. */
const maxUnderWay = 4 * maxConnections;
/** A mail server that takes longer gets one mail per connection and none ahead, whose lease would run down while it waits. */
const slowMs = SECOND;
/** A mail claimed ahead that has waited longer goes back: what is left of its lease may be too short to send and settle it. */
const maxWaitMs = (leaseSec / 12) * SECOND;
/** Leaves a third of the lease for rendering and settling. */
const sendTimeoutMs = ((leaseSec * 2) / 3) * SECOND;
/** Where the day has no room, the next mails are ended by so many: hardly one of them will be sent. */
const heldBackAtOnce = 100;
/** How long a tenant's outbox rests when its mail server lets nothing through. */
const closedPauseSec = 30;
/** A long delivery one way lets the other way have its turn after this long. */
const turnMs = 30 * SECOND;
/** A mail whose workers keep dying is not tried for ever. */
const maxInterruptions = 20;

/** Failures of the way out, not of one mail: the next mail would fare no better. */
const waysOutClosed = new Set<string>([
  'connect',
  'timeout',
  'certificate',
  'auth',
  'protocol',
] satisfies MailError['failure'][]);

interface Delivering {
  kinds: OutboxMails;
  signal: AbortSignal;
}

/**
 * Sends what is due in one tenant's outbox until nothing is left. Each mail is claimed, sent outside any transaction, and settled;
 * a worker that dies in between leaves a lease that runs out. Throws the signal's reason when it had to stop early.
 */
export async function deliverDueMails(ctx: TenantContext, delivering: Delivering): Promise<void> {
  for (let isFinished = false; !isFinished;) {
    const tenantName = await nameOfTenant(ctx);
    const own = await ownServerOf(ctx);
    const known = { kinds: delivering.kinds, ownServer: own?.version ?? null, tenantName };
    // First, and apart: however a tenant's own server behaves, it does not keep back what leaves over the service's.
    isFinished = await deliverBy(
      ctx,
      { ...known, way: 'service', settings: serviceSettings(ctx.config) },
      delivering.signal,
    );
    if (own)
      isFinished =
        (await deliverBy(ctx, { ...known, way: 'tenant', settings: own.settings() }, delivering.signal)) && isFinished;
  }
}

/** One way out as it stands: what it leads over, and what goes with every mail. */
interface Leaving {
  kinds: OutboxMails;
  way: WayOut;
  ownServer: string | null;
  settings: SmtpSettings | null;
  tenantName: string;
}

/** Sends what is due one way; false when it did not come to its end: its turn was over, or the mail settings have changed. */
async function deliverBy(ctx: TenantContext, { settings, ...leaving }: Leaving, signal: AbortSignal): Promise<boolean> {
  const isCounted = settings !== null && leaving.way === 'service';
  const terms = { ...leaving, dailyLimit: isCounted ? ctx.config.mailDailyPerTenant : null };
  if (!settings) return endUnconfigured(ctx, terms, signal);
  const { countMail } = ctx.metrics;
  const transport = openTransport(settings, { maxConnections, overallTimeoutMs: sendTimeoutMs });
  const settle = settleTogether(ctx);
  /** Claims, tries and settlements. */
  const underWay = new Set<Promise<void>>();
  const ahead: { mail: ClaimedMail; claimedAt: number }[] = [];
  let sending = 0;
  let isClaiming = false;
  /** The last claim found nothing, and nothing has been settled or given back since. */
  let isDry = false;
  let isClosed = false;
  let isOutdated = false;
  /** The last claim found mails, and room for none of them. */
  let isDayFull = false;
  let trouble: unknown;
  // How many may be claimed at once. The first mail goes alone: a closed way out costs one try, not ten.
  let width = 1;

  const begin = (work: Promise<void>): void => {
    const ending = work
      .catch((error: unknown) => {
        trouble ??= error;
      })
      .finally(() => underWay.delete(ending));
    underWay.add(ending);
  };

  const claim = async (limit: number): Promise<void> => {
    isClaiming = true;
    const claimedAt = performance.now();
    try {
      const { claimed, heldBack, ...claim } = await claimMails(ctx, limit, terms);
      isOutdated = claim.isOutdated;
      isDry = claimed.length + heldBack.length === 0;
      isDayFull = claimed.length === 0 && !isDry;
      for (const { mail, failure } of heldBack) {
        countMail(mail.kind, 'quota');
        const facts = { mailId: mail.id, kind: mail.kind, tenantId: ctx.tenantId, requestId: ctx.requestId };
        ctx.log.info({ ...facts, failure }, 'mail held back');
      }
      for (const mail of claimed) ahead.push({ mail, claimedAt });
    } catch (error) {
      // Settlements try again for a while, and the next claim comes after them.
      isDry = mayPass(error) && underWay.size > 1;
      if (!isDry) throw error;
    } finally {
      isClaiming = false;
    }
  };

  const deliver = async (mail: ClaimedMail): Promise<void> => {
    sending += 1;
    const startedAt = performance.now();
    const settlement = await sendMail(ctx, mail, { ...leaving, settings, transport }).finally(() => (sending -= 1));
    const failure = settlement.outcome === 'sent' ? null : settlement.failure;
    if (failure === null || failure === 'recipient')
      width = performance.now() - startedAt < slowMs ? maxUnderWay : maxConnections;
    else if (waysOutClosed.has(failure)) isClosed = true;
    countMail(mail.kind, settlement.outcome);
    // Apart from the try: the next mail need not wait for it.
    begin(retrying(ctx, mail, () => settle(mail, settlement)).then(() => void (isDry = false)));
  };

  const hasWaitedTooLong = (): boolean => ahead[0] !== undefined && performance.now() - ahead[0].claimedAt > maxWaitMs;
  const giveBack = async (): Promise<void> => {
    await returnMails(
      ctx,
      ahead.splice(0).map(({ mail }) => mail),
    );
    isDry = false;
  };

  let isEmpty = false;
  try {
    const turnEndsAt = performance.now() + turnMs;
    const isOver = () => isClosed || isOutdated || trouble !== undefined || performance.now() > turnEndsAt;
    while (!isOver() && !signal.aborted) {
      if (hasWaitedTooLong()) begin(giveBack());
      const room = (isDayFull ? heldBackAtOnce : width) - ahead.length - underWay.size;
      // A third at a time: a claim for each single mail would cost the database more than the mail.
      if (!isClaiming && !isDry && room >= width / 3) begin(claim(room));
      while (sending < Math.min(width, maxSending)) {
        const next = ahead.shift();
        if (!next) break;
        begin(deliver(next.mail));
      }
      isEmpty = underWay.size === 0;
      if (isEmpty) break;
      await Promise.race(underWay);
    }
    while (underWay.size > 0) await Promise.all(underWay);
    await giveBack();
    if (isClosed) await postponeDueMails(ctx, closedPauseSec, terms);
    else if (trouble !== undefined) throw trouble;
    else signal.throwIfAborted();
  } finally {
    transport.close();
  }
  return isClosed || isEmpty;
}

async function sendMail(
  ctx: TenantContext,
  mail: ClaimedMail,
  { kinds, settings, transport, way, tenantName }: Leaving & { settings: SmtpSettings; transport: MailTransport },
): Promise<Settlement> {
  const facts = { mailId: mail.id, kind: mail.kind, tenantId: ctx.tenantId, requestId: ctx.requestId, try: mail.tries };
  if (mail.interruptions > maxInterruptions) {
    ctx.log.error(facts, 'a mail was interrupted too often and was given up');
    return { outcome: 'failed', failure: 'interrupted', message: 'Sending this mail was interrupted too often.' };
  }
  let written: AddressedMail;
  try {
    written = await renderQueuedMail(ctx, mail, { kinds, tenantName, way });
  } catch (error) {
    if (!(error instanceof UnmailableError)) throw error;
    const { outcome, failure, message, cause } = error;
    ctx.log[outcome === 'failed' ? 'error' : 'info']({ ...facts, failure, err: cause }, 'mail not written');
    return { outcome, failure, message, isUntried: true };
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
    if (!(error instanceof MailError)) throw error;
    const { failure, message } = error;
    const afterSec = error.retry ? retryPausesOf(kinds, mail.kind)[mail.tries - 1] : undefined;
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
async function retrying(ctx: TenantContext, mail: ClaimedMail, settle: () => Promise<boolean>): Promise<void> {
  for (let pauseMs = 250; ; pauseMs *= 2) {
    try {
      const isOurs = await settle();
      if (!isOurs)
        ctx.log.warn({ mailId: mail.id, tenantId: ctx.tenantId }, 'a mail’s lease ran out before it was settled');
      return;
    } catch (error) {
      if (!mayPass(error) || pauseMs > 4 * SECOND) throw error;
      await pause(pauseMs);
    }
  }
}

const mayPass = (error: unknown): boolean => error instanceof PortalError && error.kind === 'unavailable';

async function endUnconfigured(ctx: TenantContext, terms: ClaimTerms, signal: AbortSignal): Promise<boolean> {
  for (;;) {
    signal.throwIfAborted();
    const { claimed, isOutdated } = await claimMails(ctx, 100, terms);
    if (claimed.length === 0) return !isOutdated;
    const message =
      terms.ownServer === null
        ? 'No mail server is configured, neither for the tenant nor for the service.'
        : 'No mail server is configured for the service, and this account is written to over that one only.';
    const settlement = { outcome: 'not_configured', failure: 'not_configured', message } as const;
    await settleMails(
      ctx,
      claimed.map((mail) => ({ mail, settlement })),
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
