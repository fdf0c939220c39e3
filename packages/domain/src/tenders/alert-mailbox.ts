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

/** The mailbox an account gets alert mails of tender portals in; a PUT replaces all of it, a kept password excepted. */
export const AlertMailboxInput = z.object(imapFields).meta({ example: { ...example, password: 'an app password' } });
export type AlertMailboxInput = z.output<typeof AlertMailboxInput>;

/** The same as it is shown, with how it was last read. */
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
  /** Minutes between two readings. */
  everyMin: 10,
  /** Mails one run reads. */
  mails: 50,
  /** Of one mail; what is beyond is not asked for. */
  mailBytes: 2 * MiB,
  /** A run in all, and when it begins no other mail. */
  inAllMs: 60_000,
  beginsUntilMs: 48_000,
  /** Of one mail that is there. */
  readMs: 8_000,
  /** Tries to read a mail, until it is passed over. */
  tries: 3,
  /** Days the first run of a mailbox goes back. */
  firstDays: 7,
  /** Days that are read once more when the server has given its mails other UIDs. */
  againDays: 14,
} as const;
