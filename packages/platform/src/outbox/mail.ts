import type { z } from 'zod';
import type { Tx } from '@portal/db/open';
import type { Role } from '@portal/domain/access';
import type { MailTemplate } from '@portal/mail/template';
import type { TenantContext } from '../context.ts';
import type { MailRoute } from './mail-route.ts';

/** The account a mail goes to, as it stands when the mail is sent. */
export interface Recipient {
  id: string;
  role: Role;
  username: string;
  /** The username where none is set. */
  displayName: string;
  firstName: string | null;
  address: string;
  isLocal: boolean;
  tenantName: string;
}

export interface PreparedMail {
  id: string;
  /** When the mail was promised. */
  createdAt: Date;
  recipient: Recipient;
  /** Over whose server it is about to leave. */
  route: MailRoute;
  /** A worker died while it had this mail: the mail server may have taken it. */
  mayHaveArrived: boolean;
}

/** One try to send a mail. */
export interface Attempt<Data> {
  tenantId: string;
  userId: string;
  data: Data;
  /** How many there have been, this one included. */
  tries: number;
  /**
   * `sent`: the mail server took the mail. `postponed`: it did not, and there will be another try. `failed`: it did not, for good.
   * `dropped`: the mail ends without having been handed to it this time, because nobody is to read it: nobody to write to, no access,
   * no sense any more. `withheld`: the same for a reason that is not the reader's: no server, no room in the day, a fault of ours.
   */
  outcome: 'sent' | 'postponed' | 'failed' | 'dropped' | 'withheld';
  /** As when it was prepared: a worker died while it had this mail. */
  mayHaveArrived: boolean;
}

/** Whether a worker died while it had this mail: nobody knows whether the mail server took it. */
export const mayHaveArrived = ({ interruptions }: { interruptions: number }): boolean => interruptions > 0;

/** A kind of mail that goes through the outbox: what its row holds, and how the row becomes a mail. */
export interface OutboxMail<Data extends z.ZodType, Words extends z.ZodType> {
  /** `area/what`: what the row carries. It never changes, since rows outlive releases. */
  kind: string;
  template: MailTemplate<Words>;
  /** What the row's `data` holds. */
  data: Data;
  /**
   * Whether a person waits for it or has to learn of it: then it leaves before all other mails, and may use the share of the tenant's
   * day that is kept from them.
   */
  isAwaited: boolean;
  /** The most one account gets of it in a day over the service's own server. */
  maxADay?: number;
  /**
   * Gathers what the template says, at the moment of sending; null when the mail has lost its sense meanwhile. A refusal drops the mail
   * as well: `checkModuleAccess({ ...ctx, actor: mail.recipient }, …)` is all it takes to ask for the account's access.
   */
  prepare(ctx: TenantContext, mail: PreparedMail, data: z.output<Data>): Promise<z.input<Words> | null>;
  /**
   * The address of a mail that does not go to the one its account has when it is sent. Such a mail names the account by its username
   * alone: whoever reads it may be a stranger, who should not be shown a text that somebody chose for a display name.
   */
  addressOf?(data: z.output<Data>): string;
  /** What is remembered of tries, however each ended, in the transaction that settles them: once for each. */
  remember?(tx: Tx, attempts: Attempt<z.output<Data>>[]): Promise<void>;
  /** Pauses before the second, third … try, in seconds; after the last one a failure is final. */
  retryAfterSec?: number[];
}

// oxlint-disable-next-line typescript/no-explicit-any -- a list of mails holds mails of every kind of data
export type AnyOutboxMail = OutboxMail<any, any>;

/** Every kind of mail a worker can write, by name. */
export type OutboxMails = ReadonlyMap<string, AnyOutboxMail>;

export const defineMail = <Data extends z.ZodType, Words extends z.ZodType>(
  mail: OutboxMail<Data, Words>,
): OutboxMail<Data, Words> => mail;

/** Five tries within about an hour, for kinds that name no pauses of their own. */
export const usualRetryAfterSec = [30, 120, 600, 2_700];
