import { setTimeout as pause } from 'node:timers/promises';
import { isUnavailable } from '@portal/domain/errors';
import { SECOND } from '@portal/domain/time';
import type { MailError } from '@portal/mail/mail-error';
import type { SmtpSettings } from '@portal/mail/smtp-settings';
import { openTransport } from '@portal/mail/transport';
import type { TenantContext } from '../context.ts';
import { type Claim, claimMails, type Ended, leaseSec, postponeDueMails, settleMails } from './outbox.ts';
import { factsOf, type DeliveryTerms, sendMail } from './send-mail.ts';

/** Connections to one tenant's mail server. */
const maxConnections = 10;
/** Tries at once: while each connection carries one mail, another is written or waits for it. */
const maxTries = 2 * maxConnections;
/** Mails of a batch: one until the server has shown that it takes mails, and no more than it has connections while it is slow. */
const batchSizes = { probing: 1, slow: maxConnections, quick: 4 * maxConnections };
/** A mail server that takes longer for a mail is slow. */
const slowMs = SECOND;
/** A mail that waited longer for its try is given back: what is left of its lease may be too short to send and settle it. */
const maxWaitMs = (leaseSec / 12) * SECOND;
/** Leaves a third of the lease for rendering and settling. */
const sendTimeoutMs = ((leaseSec * 2) / 3) * SECOND;
/** A mail that takes long must not keep the others of its batch unsettled: somebody may wait for them, and a killed worker repeats them. */
const settleEveryMs = SECOND;
/** Every so many claims the mails nobody waits for come first, so that the others cannot keep them back for ever. */
const claimsInTurn = 4;
/** How long a tenant's outbox rests when its mail server lets nothing through. */
const closedPauseSec = 30;

/** Failures of the way out, not of one mail: the next mail would fare no better. */
const routeFailures: ReadonlySet<string | undefined> = new Set<MailError['failure']>([
  'connect',
  'timeout',
  'certificate',
  'auth',
  'protocol',
]);

/**
 * Why a delivery ended. `empty`: nothing is due. `turn over`: mails may be left, for another turn. `outdated`: the tenant's own server is
 * another one by now, so nothing more can be claimed. `closed`: a try found no way out, and everything due this way rests for 30 s.
 */
export type End = 'empty' | 'turn over' | 'outdated' | 'closed';

/**
 * Sends one tenant's due mails one way: claims a batch, sends it over the kept connections, settles it, and goes on. Without settings mails
 * end unsent. Throws the signal's reason, or the first error, once everything that was claimed is settled or given back.
 */
export async function deliver(
  ctx: TenantContext,
  settings: SmtpSettings | null,
  terms: Omit<DeliveryTerms, 'server'>,
  { signal, turnMs }: { signal: AbortSignal; turnMs: number },
): Promise<End> {
  const turnEndsAt = performance.now() + turnMs;
  const transport = settings && openTransport(settings, { maxConnections, overallTimeoutMs: sendTimeoutMs });
  const leaving = { ...terms, server: transport && { transport, fromAddress: settings.fromAddress } };
  let pace: keyof typeof batchSizes = settings ? 'probing' : 'quick';
  let limit = batchSizes[pace];
  try {
    for (let claims = 1; ; claims += 1) {
      signal.throwIfAborted();
      const first = claims % claimsInTurn === 0 ? 'others' : 'awaited';
      const claim = await claimMails(ctx, limit, leaving, first);
      if (claim.claimed.length + claim.overQuota.length === 0) return claim.isOutdated ? 'outdated' : 'empty';
      const { slowestMs, isClosed } = await sendBatch(ctx, claim, leaving, batchSizes[pace], signal);
      if (isClosed) {
        await postponeDueMails(ctx, closedPauseSec, leaving);
        return 'closed';
      }
      if (slowestMs !== null) pace = slowestMs < slowMs ? 'quick' : 'slow';
      // Where the day has no room, hardly one of the next mails will be sent.
      limit = batchSizes[claim.claimed.length === 0 ? 'quick' : pace];
      if (performance.now() > turnEndsAt) return 'turn over';
    }
  } finally {
    transport?.close();
  }
}

/** Sends and settles what was claimed; answers the longest a mail took that the server accepted, or refused for its recipient alone. */
async function sendBatch(
  ctx: TenantContext,
  { claimed, overQuota }: Claim,
  leaving: DeliveryTerms,
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
  const noteError = (error: unknown) => void errors.push(error);
  let slowestMs: number | null = null;
  let isClosed = false;
  const isOver = () => signal.aborted || isClosed || errors.length > 0 || performance.now() - claimedAt > maxWaitMs;

  async function sendOneByOne(): Promise<void> {
    while (!isOver()) {
      const mail = waiting.shift();
      if (!mail) return;
      const startedAt = performance.now();
      const settlement = await sendMail(ctx, mail, leaving);
      ended.push({ mail, settlement });
      const { outcome, failure } = settlement;
      if (outcome === 'sent' || failure === 'recipient')
        slowestMs = Math.max(slowestMs ?? 0, performance.now() - startedAt);
      isClosed ||= routeFailures.has(failure);
    }
  }

  const tries = Array.from({ length: Math.min(size, maxTries) }, () => sendOneByOne().catch(noteError));
  const allSent = Promise.all(tries).then(() => true);
  for (let isDone = false; !isDone;) {
    isDone = await Promise.race([allSent, pause(settleEveryMs, false, { ref: false })]);
    const untried = isDone || isOver() ? waiting.splice(0) : [];
    const returned = untried.map((mail): Ended => ({ mail, settlement: { outcome: 'returned', afterSec: 0 } }));
    await settle(ctx, leaving, [...ended.splice(0), ...returned]).catch(noteError);
  }
  if (errors.length > 0 && !isClosed) throw errors[0];
  return { slowestMs, isClosed };
}

/** Settles mails in one transaction; when one of them cannot be settled, each alone, so that the others do not go out again. */
async function settle(ctx: TenantContext, { kinds }: Pick<DeliveryTerms, 'kinds'>, ended: Ended[]): Promise<void> {
  if (ended.length === 0) return;
  try {
    const ours = await retry(() => settleMails(ctx, kinds, ended));
    for (const { mail, settlement } of ended) {
      if (settlement.outcome !== 'returned') ctx.metrics.countMail(mail.kind, settlement.outcome);
      if (settlement.outcome === 'quota')
        ctx.log.info({ ...factsOf(ctx, mail), failure: settlement.failure }, 'mail held back');
      if (!ours.has(mail.id)) ctx.log.warn(factsOf(ctx, mail), 'a mail’s lease ran out before it was settled');
    }
  } catch (error) {
    if (isUnavailable(error) || ended.length === 1) throw error;
    const errors: unknown[] = [];
    for (const one of ended) await settle(ctx, { kinds }, [one]).catch((failed: unknown) => errors.push(failed));
    if (errors.length > 0) throw errors[0];
  }
}

/** A mail that went out and cannot be settled goes out again: worth a few tries while the lease lasts. */
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
