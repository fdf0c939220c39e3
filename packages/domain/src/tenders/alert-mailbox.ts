import { z } from 'zod';
import { ImapFailureKind, imapFields, shownImapFields } from '../imap.ts';
import { Instant } from '../time.ts';

const example = {
  host: 'imap.example.org',
  port: 993,
  security: 'tls',
  username: 'ada@example.org',
  folder: 'Ausschreibungen',
  caCertificatePem: null,
  isActive: true,
} as const;

/** The mailbox in which an account gets alert mails of tender portals. A PUT replaces everything except a kept password. */
export const AlertMailboxInput = z.object(imapFields).meta({ example: { ...example, password: 'an app password' } });
export type AlertMailboxInput = z.output<typeof AlertMailboxInput>;

/** The stored settings and the outcome of the last read. */
export const AlertMailbox = z
  .object({
    ...shownImapFields,
    lastFetchedAt: Instant.nullable().describe('When all new mails had last been read'),
    lastError: ImapFailureKind.nullable().describe('Why the last read failed; null if it succeeded'),
  })
  .meta({
    id: 'TenderAlertMailbox',
    example: {
      ...example,
      hasPassword: true,
      isPaused: false,
      lastFetchedAt: '2026-11-20T08:30:00.000Z',
      lastError: null,
    },
  });
export type AlertMailbox = z.output<typeof AlertMailbox>;

const MiB = 1024 * 1024;

export const alertLimits = {
  /** Minutes between two runs. */
  everyMin: 10,
  /** Mails per run. */
  mails: 50,
  /** Bytes fetched of a mail. */
  mailBytes: 2 * MiB,
  /** Maximum duration of a run. */
  inAllMs: 60_000,
  /** Time after which a run starts no other mail. */
  beginsUntilMs: 48_000,
  /** Time to parse a mail that has been fetched. */
  readMs: 8_000,
  /** Attempts to read a mail before it is skipped. */
  tries: 3,
  /** Days for which the first run reads earlier mails. */
  firstDays: 7,
  /** Days whose mails are read again after the server has assigned new UIDs. */
  againDays: 14,
} as const;
