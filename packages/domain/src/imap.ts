import { z } from 'zod';
import { CaCertificatePem } from './ca-certificates.ts';
import { hostFault, hostForm } from './host.ts';
import { SecretInput } from './secret-input.ts';
import type { SecretTarget } from './secret-target.ts';
import { lineOrNull, requiredLine } from './text.ts';

/** Why a mailbox could not be read. */
export const ImapFailureKind = z
  .enum(['unreachable', 'certificate', 'unauthorized', 'folderMissing', 'timeout', 'protocol'])
  .describe(
    '`unreachable` no connection, or it was lost · `certificate` the server’s certificate is not valid · `unauthorized` username or password was refused · `folderMissing` a folder does not exist · `timeout` no answer in time · `protocol` not a valid IMAP answer',
  );
export type ImapFailureKind = z.output<typeof ImapFailureKind>;

const ImapSecurity = z
  .enum(['none', 'starttls', 'tls'])
  .describe(
    '`tls` encrypts from the first byte (port 993), `starttls` encrypts before any data is sent (port 143), `none` does not encrypt',
  );

/** The settings of a mailbox, as users enter them. */
export const imapFields = {
  host: requiredLine(253).regex(hostForm, hostFault),
  port: z.int().min(1).max(65_535).default(993),
  security: ImapSecurity.default('tls'),
  username: requiredLine(),
  password: SecretInput,
  folder: requiredLine().default('INBOX').describe('The folder that is read'),
  caCertificatePem: CaCertificatePem,
  isActive: z.boolean().default(true),
};

/** An optional folder: missing, null and blank all become null. */
export const OptionalFolder = lineOrNull().default(null);

/** The settings as answered: all fields null until set, and never the password. */
export const shownImapFields = {
  host: z.string().nullable(),
  port: z.int().nullable(),
  security: ImapSecurity.nullable(),
  username: z.string().nullable(),
  hasPassword: z.boolean(),
  folder: z.string().nullable(),
  caCertificatePem: z.string().nullable(),
  isActive: z.boolean().nullable(),
  isPaused: z
    .boolean()
    .describe(
      'True if three sign-ins in a row were refused; the mailbox is not read until its settings are saved again',
    ),
};

/** Refused sign-ins in a row before a mailbox is paused: many servers lock an account after repeated attempts. */
const maxRefusals = 3;

/** Whether a mailbox is paused after this number of refused sign-ins in a row. */
export const isPausedAfter = (refusals: number): boolean => refusals >= maxRefusals;

/** The number of refused sign-ins in a row after a run. Failures before the sign-in do not change it. */
export const refusalsAfter = (
  before: number,
  { isSignedIn, failure }: { isSignedIn: boolean; failure: ImapFailureKind | null },
): number => (isSignedIn ? 0 : failure === 'unauthorized' ? before + 1 : before);

export type ImapSettings = Pick<
  z.output<z.ZodObject<typeof imapFields>>,
  'host' | 'port' | 'security' | 'username' | 'caCertificatePem'
>;

/** The target of a mailbox password. */
export const imapTarget = ({ host, port, security, username, caCertificatePem }: ImapSettings): SecretTarget => ({
  scheme: 'imap',
  host: host.toLowerCase(),
  port,
  account: username,
  encryption: security,
  verifiesCertificate: true,
  authorities: caCertificatePem,
});

/** A folder of an account on a server. */
export type ImapFolder = Pick<ImapSettings, 'host' | 'port' | 'username'> & { folder: string };

/** Whether UIDs name the same mails in both. */
export const isSameFolder = (one: ImapFolder, other: ImapFolder): boolean =>
  one.host.toLowerCase() === other.host.toLowerCase() &&
  one.port === other.port &&
  one.username === other.username &&
  one.folder === other.folder;

/** The result of a mailbox test. */
export const ImapTest = z
  .object({
    ok: z.boolean(),
    error: ImapFailureKind.nullable(),
    message: z.string().describe('One sentence: the fault, or that the mailbox can be read'),
  })
  .meta({
    id: 'ImapTest',
    example: { ok: true, error: null, message: 'The mailbox can be read.' },
  });
export type ImapTest = z.output<typeof ImapTest>;
