import { setTimeout as pause } from 'node:timers/promises';
import { isUnavailable } from '@portal/domain/errors';
import { SECOND } from '@portal/domain/time';
import type { MailError } from '@portal/mail/mail-error';
import type { SmtpSettings } from '@portal/mail/smtp-settings';
import { openTransport } from '@portal/mail/transport';
import type { TenantContext } from '../context.ts';
import { type Claim, claimMails, type Ended, leaseSec, postponeDueMails, settleMails } from './outbox.ts';
import { factsOf, type DeliveryTerms, sendMail } from './send-mail.ts';

/** Maximum connections to one mail server. */
const maxConnections = 10;
/** Concurrent attempts: while each connection sends one mail, another is rendered or waits. */
const maxConcurrentAttempts = 2 * maxConnections;
/** Mails per batch: one until the server has accepted a mail, and at most one per connection while the server is slow. */
const batchSizes = { probing: 1, slow: maxConnections, quick: 4 * maxConnections };
/** A mail server that needs longer per mail is slow. */
const slowMs = SECOND;
/** Mails that waited longer for their attempt are returned: the rest of the lease may be too short to send and settle them. */
const maxWaitMs = (leaseSec / 12) * SECOND;
/** Leaves a third of the lease for rendering and settling. */
const sendTimeoutMs = ((leaseSec * 2) / 3) * SECOND;
/** A slow mail must not delay settling the rest of its batch: users may wait for the result, and a killed worker would repeat them. */
const settleEveryMs = SECOND;
/** Every fourth claim takes other mails before awaited ones, so that awaited mails cannot block them for ever. */
const othersFirstEvery = 4;
/** Pause of a mail route that failed. */
const closedPauseSec = 30;

/** Failures of the mail route, not of one mail: the next mail would fail too. */
const routeFailures: ReadonlySet<string | undefined> = new Set<MailError['failure']>([
  'connect',
  'timeout',
  'certificate',
  'auth',
  'protocol',
]);

/**
 * Why a delivery ended. `empty`: no mail is due. `turn over`: mails may be left for another turn. `outdated`: the tenant's own server has
 * changed, so no more mails can be claimed. `closed`: the mail route failed, and all its due mails are postponed for 30 s.
 */
export type End = 'empty' | 'turn over' | 'outdated' | 'closed';

/**
 * Sends one tenant's due mails over one route: claims a batch, sends it over pooled connections, settles it, and repeats. Without settings
 * mails end unsent. Throws the signal's reason, or the first error, once all claimed mails are settled or returned. The connections are
 * idle while the database settles and claims: overlapping the two would need queues in between.
 */
export async function deliver(
  ctx: TenantContext,
  settings: SmtpSettings | null,
  claimTerms: Omit<DeliveryTerms, 'server'>,
  { signal, turnMs }: { signal: AbortSignal; turnMs: number },
): Promise<End> {
  const turnEndsAt = performance.now() + turnMs;
  const transport = settings && openTransport(settings, { maxConnections, overallTimeoutMs: sendTimeoutMs });
  const terms = { ...claimTerms, server: transport && { transport, fromAddress: settings.fromAddress } };
  let pace: keyof typeof batchSizes = settings ? 'probing' : 'quick';
  let limit = batchSizes[pace];
  try {
    for (let claims = 1; ; claims += 1) {
      signal.throwIfAborted();
      const first = claims % othersFirstEvery === 0 ? 'others' : 'awaited';
      const claim = await claimMails(ctx, limit, terms, first);
      if (claim.claimed.length + claim.overQuota.length === 0) return claim.isOutdated ? 'outdated' : 'empty';
      const { slowestMs, isClosed } = await sendBatch(ctx, claim, terms, batchSizes[pace], signal);
      if (isClosed) {
        await postponeDueMails(ctx, closedPauseSec, terms);
        return 'closed';
      }
      if (slowestMs !== null) pace = slowestMs < slowMs ? 'quick' : 'slow';
      // If the quota is used up, hardly any of the next mails will be sent.
      limit = batchSizes[claim.claimed.length === 0 ? 'quick' : pace];
      if (performance.now() > turnEndsAt) return 'turn over';
    }
  } finally {
    transport?.close();
  }
}

/** Sends and settles claimed mails. `slowestMs` is the longest time for a mail that was accepted or refused only for its recipient. */
async function sendBatch(
  ctx: TenantContext,
  { claimed, overQuota }: Claim,
  terms: DeliveryTerms,
  size: number,
  signal: AbortSignal,
): Promise<{ slowestMs: number | null; isClosed: boolean }> {
  const claimedAt = performance.now();
  const waiting = [...claimed];
  const ended: Ended[] = overQuota.map(({ mail, ...reason }) => ({
    mail,
    settlement: { outcome: 'quota', ...reason },
  }));
  const errors: unknown[] = [];
  const recordError = (error: unknown) => void errors.push(error);
  let slowestMs: number | null = null;
  let isClosed = false;
  const mustStop = () => signal.aborted || isClosed || errors.length > 0 || performance.now() - claimedAt > maxWaitMs;

  async function sendOneByOne(): Promise<void> {
    while (!mustStop()) {
      const mail = waiting.shift();
      if (!mail) return;
      const startedAt = performance.now();
      const settlement = await sendMail(ctx, mail, terms);
      ended.push({ mail, settlement });
      const { outcome, failure } = settlement;
      if (outcome === 'sent' || failure === 'recipient')
        slowestMs = Math.max(slowestMs ?? 0, performance.now() - startedAt);
      isClosed ||= routeFailures.has(failure);
    }
  }

  const senders = Array.from({ length: Math.min(size, maxConcurrentAttempts) }, () =>
    sendOneByOne().catch(recordError),
  );
  const allSent = Promise.all(senders).then(() => true);
  for (let isDone = false; !isDone;) {
    isDone = await Promise.race([allSent, pause(settleEveryMs, false, { ref: false })]);
    const unattempted = isDone || mustStop() ? waiting.splice(0) : [];
    const returned = unattempted.map((mail): Ended => ({ mail, settlement: { outcome: 'returned', afterSec: 0 } }));
    await settle(ctx, terms, [...ended.splice(0), ...returned]).catch(recordError);
  }
  if (errors.length > 0 && !isClosed) throw errors[0];
  return { slowestMs, isClosed };
}

/** Settles mails in one transaction. If that fails, settles each alone, so that one bad mail does not make the others go out again. */
async function settle(ctx: TenantContext, { kinds }: Pick<DeliveryTerms, 'kinds'>, ended: Ended[]): Promise<void> {
  if (ended.length === 0) return;
  try {
    const ours = await retry(() => settleMails(ctx, kinds, ended));
    for (const { mail, settlement } of ended) {
      if (settlement.outcome !== 'returned') ctx.metrics.countMail(mail.kind, settlement.outcome);
      if (settlement.outcome === 'quota')
        ctx.log.info({ ...factsOf(ctx, mail), failure: settlement.failure }, 'mail exceeds the daily quota');
      if (!ours.has(mail.id)) ctx.log.warn(factsOf(ctx, mail), 'a mail’s lease expired before it was settled');
    }
  } catch (error) {
    if (isUnavailable(error) || ended.length === 1) throw error;
    const errors: unknown[] = [];
    for (const one of ended) await settle(ctx, { kinds }, [one]).catch((failed: unknown) => errors.push(failed));
    if (errors.length > 0) throw errors[0];
  }
}

/** A sent mail that cannot be settled would be sent again, so settling is retried while the lease lasts. */
async function retry<Result>(work: () => Promise<Result>): Promise<Result> {
  for (let pauseMs = 250; ; pauseMs *= 2) {
    try {
      return await work();
    } catch (error) {
      if (!isUnavailable(error) || pauseMs > 4 * SECOND) throw error;
      await pause(pauseMs);
    }
  }
}
