import { z } from 'zod';
import { ImapFailureKind, imapFields, OptionalFolder, shownImapFields } from '../imap.ts';
import { Instant } from '../time.ts';

const example = {
  host: 'imap.example.org',
  port: 993,
  security: 'tls',
  username: 'rechnung@example.org',
  folder: 'INBOX',
  caCertificatePem: null,
  isActive: true,
  processedFolder: 'INBOX/Verarbeitet',
  failedFolder: 'INBOX/Fehler',
} as const;

/** The settings of the tenant’s invoice mailbox. A PUT replaces all of them, but can keep the stored password. */
export const InvoiceMailboxInput = z
  .object({
    ...imapFields,
    processedFolder: OptionalFolder.describe(
      'Folder for mails whose documents were stored; without it they stay where they are',
    ),
    failedFolder: OptionalFolder.describe(
      'Folder for mails that could not be read; without it they stay where they are',
    ),
  })
  .superRefine(({ folder, processedFolder, failedFolder }, check) => {
    for (const [field, target] of Object.entries({ processedFolder, failedFolder })) {
      if (target === folder)
        check.addIssue({ code: 'custom', path: [field], message: 'must not be the folder itself' });
    }
  })
  .meta({ example: { ...example, password: 'a mailbox password' } });
export type InvoiceMailboxInput = z.output<typeof InvoiceMailboxInput>;

/** The settings as the API returns them, with the result of the last fetch. */
export const InvoiceMailbox = z
  .object({
    ...shownImapFields,
    processedFolder: z.string().nullable(),
    failedFolder: z.string().nullable(),
    lastFetchedAt: Instant.nullable().describe('When the mailbox was last read successfully'),
    storedBytes: z.int().describe('Storage used by invoices'),
    maxStoredBytes: z.int().describe('Storage available for invoices; once it is full, no more are fetched'),
    lastError: ImapFailureKind.nullable().describe('Why the last fetch failed; null if it succeeded'),
  })
  .meta({
    id: 'InvoiceMailbox',
    example: {
      ...example,
      hasPassword: true,
      isPaused: false,
      lastFetchedAt: '2026-11-20T08:30:00.000Z',
      storedBytes: 734_003_200,
      maxStoredBytes: 10_737_418_240,
      lastError: null,
    },
  });
export type InvoiceMailbox = z.output<typeof InvoiceMailbox>;
