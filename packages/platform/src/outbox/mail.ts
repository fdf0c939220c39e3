import type { z } from 'zod';
import type { Tx } from '@portal/db/open';
import type { Role } from '@portal/domain/access';
import type { MailTemplate } from '@portal/mail/template';
import type { TenantContext } from '../context.ts';
import type { MailRoute } from './mail-route.ts';

/** The receiving account as it is when the mail is sent. */
export interface Recipient {
  id: string;
  role: Role;
  username: string;
  /** Falls back to the username. */
  displayName: string;
  firstName: string | null;
  address: string;
  isLocal: boolean;
  tenantName: string;
}

export interface PreparedMail {
  id: string;
  /** When the mail was queued. */
  createdAt: Date;
  recipient: Recipient;
  /** The route over which it is about to be sent. */
  route: MailRoute;
  /** A worker died while it held this mail; the mail server may have accepted it. */
  mayHaveArrived: boolean;
}

/** One attempt to send a mail. */
export interface Attempt<Data> {
  tenantId: string;
  userId: string;
  data: Data;
  /** Number of attempts, including this one. */
  tries: number;
  /**
   * `sent`: the mail server accepted the mail. `postponed`: it did not, and there will be another attempt. `failed`: it did not, and the
   * mail ends. `dropped`: the mail ends without this attempt reaching the server, because of its recipient or content: no address, no
   * access, or no longer relevant. `withheld`: the same for our reasons: no mail server, quota used up, or an error of ours.
   */
  outcome: 'sent' | 'postponed' | 'failed' | 'dropped' | 'withheld';
  /** A worker died while it held this mail. */
  mayHaveArrived: boolean;
}

/** Whether a worker died while it held this mail: the mail server may or may not have accepted it. */
export const mayHaveArrived = ({ interruptions }: { interruptions: number }): boolean => interruptions > 0;

/** A kind of mail in the outbox: the data in its row, and how the row becomes a mail. */
export interface OutboxMail<Data extends z.ZodType, Words extends z.ZodType> {
  /** `area/what`, stored in the row. Never change it: rows outlive releases. */
  kind: string;
  template: MailTemplate<Words>;
  /** Schema of the row's `data`. */
  data: Data;
  /**
   * Whether a person waits for the mail or must get it: it is then sent before other mails, and may use the reserved share of the tenant's
   * daily quota.
   */
  isAwaited: boolean;
  /** Maximum mails of this kind per account and day over the service's mail server. */
  maxADay?: number;
  /**
   * Collects the template's data just before sending; null if the mail is no longer relevant. A refusal also drops the mail: to check the
   * account's access, call `checkModuleAccess({ ...ctx, actor: mail.recipient }, …)`.
   */
  prepare(ctx: TenantContext, mail: PreparedMail, data: z.output<Data>): Promise<z.input<Words> | null>;
  /**
   * The address, if the mail does not go to the account's current one. Such a mail shows only the username, not the display name: the
   * reader may be a stranger, who must not be shown text of the account's choice.
   */
  addressOf?(data: z.output<Data>): string;
  /** Records attempts with any outcome in the transaction that settles them; called once per attempt. */
  remember?(tx: Tx, attempts: Attempt<z.output<Data>>[]): Promise<void>;
  /** Pauses before the second, third … attempt, in seconds; after the last pause a failure is final. */
  retryAfterSec?: number[];
}

// oxlint-disable-next-line typescript/no-explicit-any -- a list of mails holds mails of every kind of data
export type AnyOutboxMail = OutboxMail<any, any>;

/** All kinds of mail that a worker can render, by name. */
export type OutboxMails = ReadonlyMap<string, AnyOutboxMail>;

export const defineMail = <Data extends z.ZodType, Words extends z.ZodType>(
  mail: OutboxMail<Data, Words>,
): OutboxMail<Data, Words> => mail;

/** Five attempts within about an hour, for kinds without their own pauses. */
export const usualRetryAfterSec = [30, 120, 600, 2_700];
