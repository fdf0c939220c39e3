import { setTimeout as pause } from 'node:timers/promises';
import { isUnavailable } from '@portal/domain/errors';
import { SECOND } from '@portal/domain/time';
import type { MailError } from '@portal/mail/mail-error';
import type { SmtpSettings } from '@portal/mail/smtp-settings';
import { openTransport } from '@portal/mail/transport';
import type { TenantContext } from '../context.ts';
import { claimMails, type ClaimedMail, leaseSec, postponeDueMails, returnMails, type Settlement } from './outbox.ts';
import { remembered } from './remembering.ts';
import { factsOf, type Leaving, sendMail } from './send-mail.ts';
import { settleTogether } from './settle-together.ts';

/** Connections to one tenant's mail server. */
const maxConnections = 10;
/** Tries at once: while each connection carries one mail, another is written or waits for it. */
const maxTries = 2 * maxConnections;
/** Mails claimed ahead, tries, settlements and claims in all, by how the way out is. */
const widths = { probing: 1, narrow: maxConnections, wide: 4 * maxConnections };
/** A mail server that takes longer makes the way narrow. */
const slowMs = SECOND;
/** A mail claimed ahead that has waited longer goes back: what is left of its lease may be too short to send and settle it. */
const maxWaitMs = (leaseSec / 12) * SECOND;
/** Leaves a third of the lease for rendering and settling. */
const sendTimeoutMs = ((leaseSec * 2) / 3) * SECOND;
/** Where the day has no room, the next mails are ended by so many: hardly one of them will be sent. */
const heldBackAtOnce = 100;
/** Every so many claims the mails nobody waits for come first, so that the others cannot keep them back for ever. */
const claimsInTurn = 4;
/** How long a tenant's outbox rests when its mail server lets nothing through. */
const closedPauseSec = 30;

/** Failures of the way out, not of one mail: the next mail would fare no better. */
const waysOutClosed: ReadonlySet<string> = new Set<MailError['failure']>([
  'connect',
  'timeout',
  'certificate',
  'auth',
  'protocol',
]);

/** Why a delivery ends. What comes later here outweighs what stands before it, until the last mail under way is settled. */
const reasons = ['empty', 'turn over', 'outdated', 'stopped', 'trouble', 'closed'] as const;
type Reason = (typeof reasons)[number];

/**
 * One turn of one tenant's mails over one way out.
 *
 *     way      probing ─┬─ the server answered quickly ──▶ wide
 *                       └─ slowly ───────────────────────▶ narrow       every answer decides between these two again
 *
 * - `probing`: one mail alone, so a way that is closed costs one try. Only a mail taken or a recipient refused shows it open.
 * - `narrow`: one mail per connection and none ahead, whose lease would run down while it waits.
 * - `wide`: so many claimed ahead that no connection has to wait for the database.
 *
 *     supply   unknown ──▶ claiming ──▶ unknown      with mails
 *                 ▲           ├───────▶ held back    with mails, and room in the day for none: the next claim is a large one
 *                 └── dry ◀───┘                      without: no claim until a mail has been settled or given back
 *
 * At most one claim is under way. Every claimed mail is tried, or given back untried when it has waited too long or the delivery ends.
 *
 *     end      none ──▶ a reason ──▶ what is under way is settled, what is claimed ahead given back
 *
 * - `empty`: nothing is due and nothing under way.
 * - `turn over`: mails may be left, for another turn.
 * - `outdated`: the tenant's own server is another one by now, so nothing more can be claimed.
 * - `stopped`, `trouble`: thrown, the signal's reason or the first error.
 * - `closed`: a try found the way closed, and everything due this way rests for 30 s.
 */
export class Delivery {
  readonly #ctx: TenantContext;
  readonly #leaving: Leaving;
  readonly #settle: ReturnType<typeof settleTogether>;
  #way: keyof typeof widths = 'probing';
  #supply: 'unknown' | 'claiming' | 'dry' | 'held back' = 'unknown';
  #end: { reason: Reason; error?: unknown } | null = null;
  #ahead: { mail: ClaimedMail; claimedAt: number }[] = [];
  #tries = 0;
  #claims = 0;
  /** Claims, tries, settlements and mails on their way back. */
  readonly #underWay = new Set<Promise<void>>();

  constructor(ctx: TenantContext, settings: SmtpSettings, leaving: Omit<Leaving, 'transport' | 'fromAddress'>) {
    const transport = openTransport(settings, { maxConnections, overallTimeoutMs: sendTimeoutMs });
    this.#ctx = ctx;
    this.#leaving = { ...leaving, transport, fromAddress: settings.fromAddress };
    this.#settle = settleTogether(ctx);
  }

  /** To be called once. */
  async run(signal: AbortSignal, turnMs: number): Promise<Exclude<Reason, 'stopped' | 'trouble'>> {
    const turnEndsAt = performance.now() + turnMs;
    try {
      for (;;) {
        if (signal.aborted) this.#endFor('stopped', signal.reason);
        if (performance.now() > turnEndsAt) this.#endFor('turn over');
        if (!this.#end) this.#proceed();
        if (this.#underWay.size === 0) break;
        await Promise.race(this.#underWay);
      }
      await this.#giveBack();
      const { reason, error } = this.#end ?? { reason: 'empty' };
      if (reason === 'stopped' || reason === 'trouble') throw error;
      if (reason === 'closed') await postponeDueMails(this.#ctx, closedPauseSec, this.#leaving);
      return reason;
    } finally {
      this.#leaving.transport.close();
    }
  }

  #endFor(reason: Reason, error?: unknown): void {
    if (!this.#end || reasons.indexOf(reason) > reasons.indexOf(this.#end.reason)) this.#end = { reason, error };
  }

  #proceed(): void {
    const width = widths[this.#way];
    const [next] = this.#ahead;
    if (next && performance.now() - next.claimedAt > maxWaitMs) this.#begin(this.#giveBack());
    const most = { unknown: width, claiming: 0, dry: 0, 'held back': heldBackAtOnce }[this.#supply];
    const room = most - this.#ahead.length - this.#underWay.size;
    // A third at a time: a claim for each single mail would cost the database more than the mail.
    if (room >= width / 3) this.#begin(this.#claim(room));
    const idle = Math.min(width, maxTries) - this.#tries;
    for (const { mail } of this.#ahead.splice(0, Math.max(idle, 0))) this.#begin(this.#try(mail));
  }

  #begin(work: Promise<void>): void {
    const ending = work
      .catch((error: unknown) => this.#endFor('trouble', error))
      .finally(() => this.#underWay.delete(ending));
    this.#underWay.add(ending);
  }

  async #claim(limit: number): Promise<void> {
    this.#supply = 'claiming';
    const claimedAt = performance.now();
    try {
      this.#claims += 1;
      const first = this.#claims % claimsInTurn === 0 ? 'others' : 'awaited';
      const { claimed, heldBack, isOutdated } = await claimMails(this.#ctx, limit, this.#leaving, first);
      for (const mail of claimed) this.#ahead.push({ mail, claimedAt });
      for (const { mail, ...reason } of heldBack) {
        this.#ctx.metrics.countMail(mail.kind, 'quota');
        this.#ctx.log.info({ ...factsOf(this.#ctx, mail), failure: reason.failure }, 'mail held back');
        const withheld = remembered(this.#leaving.kinds, mail, 'withheld');
        this.#begin(this.#settleMail(mail, { outcome: 'quota', ...reason, remembered: withheld }));
      }
      if (claimed.length > 0) this.#supply = 'unknown';
      else this.#supply = heldBack.length > 0 ? 'held back' : 'dry';
      if (isOutdated) this.#endFor('outdated');
    } catch (error) {
      // Settlements try again for a while, and the next claim comes after them.
      if (!isUnavailable(error) || this.#underWay.size === 1) throw error;
      this.#supply = 'dry';
    }
  }

  async #try(mail: ClaimedMail): Promise<void> {
    this.#tries += 1;
    const startedAt = performance.now();
    const settlement = await sendMail(this.#ctx, mail, this.#leaving).finally(() => (this.#tries -= 1));
    const failure = settlement.outcome === 'sent' ? null : settlement.failure;
    if (failure === null || failure === 'recipient')
      this.#way = performance.now() - startedAt < slowMs ? 'wide' : 'narrow';
    else if (waysOutClosed.has(failure)) this.#endFor('closed');
    this.#ctx.metrics.countMail(mail.kind, settlement.outcome);
    // Apart from the try: the next mail need not wait for it.
    this.#begin(this.#settleMail(mail, settlement));
  }

  async #settleMail(mail: ClaimedMail, settlement: Settlement): Promise<void> {
    const isOurs = await retry(() => this.#settle(mail, settlement));
    if (!isOurs) this.#ctx.log.warn(factsOf(this.#ctx, mail), 'a mail’s lease ran out before it was settled');
    this.#refill();
  }

  async #giveBack(): Promise<void> {
    await returnMails(
      this.#ctx,
      this.#ahead.splice(0).map(({ mail }) => mail),
    );
    this.#refill();
  }

  #refill(): void {
    if (this.#supply === 'dry') this.#supply = 'unknown';
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
