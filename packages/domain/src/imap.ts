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

/** How a mailbox is reached, as people write it. */
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

/** A folder that may be left out: missing, null and blank are all null. */
export const OptionalFolder = lineOrNull().default(null);

/** The same as it is shown: every field null while nothing is set, never the password. */
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

/** Sign-ins refused in a row until a mailbox is left alone: many servers lock an account that is tried on and on. */
const maxRefusals = 3;

/** Whether a mailbox with so many sign-ins refused in a row is left alone. */
export const isPausedAfter = (refusals: number): boolean => refusals >= maxRefusals;

/** Sign-ins refused in a row once a run has ended so: what fails before the sign-in says nothing about it. */
export const refusalsAfter = (
  before: number,
  { isSignedIn, failure }: { isSignedIn: boolean; failure: ImapFailureKind | null },
): number => (isSignedIn ? 0 : failure === 'unauthorized' ? before + 1 : before);

export type ImapSettings = Pick<
  z.output<z.ZodObject<typeof imapFields>>,
  'host' | 'port' | 'security' | 'username' | 'caCertificatePem'
>;

/** Where the password of a mailbox travels. */
export const imapTarget = ({ host, port, security, username, caCertificatePem }: ImapSettings): SecretTarget => ({
  scheme: 'imap',
  host: host.toLowerCase(),
  port,
  account: username,
  encryption: security,
  verifiesCertificate: true,
  authorities: caCertificatePem,
});

/** A folder of an account at a server. */
export type ImapBox = Pick<ImapSettings, 'host' | 'port' | 'username'> & { folder: string };

/** Whether UIDs name the same mails in both. */
export const isSameBox = (one: ImapBox, other: ImapBox): boolean =>
  one.host.toLowerCase() === other.host.toLowerCase() &&
  one.port === other.port &&
  one.username === other.username &&
  one.folder === other.folder;

/** What a try of a mailbox found. */
export const ImapTest = z
  .object({
    ok: z.boolean(),
    error: ImapFailureKind.nullable(),
    message: z.string().describe('One sentence that says what is wrong, or that everything works'),
  })
  .meta({
    id: 'ImapTest',
    example: { ok: true, error: null, message: 'The mailbox can be read.' },
  });
export type ImapTest = z.output<typeof ImapTest>;
