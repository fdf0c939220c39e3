import { z } from 'zod';
import { Email } from '../accounts/accounts.ts';
import { hostFault, hostForm } from '../host.ts';
import { SecretInput } from '../secret-input.ts';
import { line } from '../text.ts';

/** An optional line: missing, null and blank all become null. */
const optionalLine = (max?: number) =>
  line(max)
    .nullable()
    .overwrite((value) => (value === '' ? null : value))
    .default(null);

const optionalAddress = z.union([z.literal('').transform(() => null), Email.nullable()]).default(null);

const Host = optionalLine(253).refine((host) => host === null || hostForm.test(host), hostFault);

const fields = z.object({
  host: Host.describe('Without a host the service’s own mail server is used'),
  port: z.int().min(1).max(65_535).nullable().default(null),
  security: z.enum(['none', 'starttls', 'tls']).nullable().default(null),
  username: optionalLine(),
  password: SecretInput,
  fromAddress: optionalAddress,
  fromName: optionalLine(),
  replyTo: optionalAddress,
  verifyTls: z.boolean().default(true).describe('Whether the server must show a valid certificate'),
  bugReportRecipient: optionalAddress.describe('Address that receives the bug reports of this tenant'),
});

const example = {
  host: 'mail.example.org',
  port: 587,
  security: 'starttls',
  username: 'portal@example.org',
  fromAddress: 'portal@example.org',
  fromName: 'Portal der Stadtwerke',
  replyTo: 'it@example.org',
  verifyTls: true,
  bugReportRecipient: 'it@example.org',
} as const;

const complete = (config: z.output<typeof fields>, check: z.RefinementCtx) => {
  if (config.host === null) return;
  for (const field of ['port', 'security', 'fromAddress'] as const) {
    if (config[field] === null)
      check.addIssue({ code: 'custom', path: [field], message: 'must be given together with host' });
  }
};

/** A tenant's mail settings as an administrator sends them; a PUT replaces all of them except a password that is kept. */
export const SmtpConfigInput = fields
  .superRefine(complete)
  .meta({ example: { ...example, password: 'a mail password' } });
export type SmtpConfigInput = z.output<typeof SmtpConfigInput>;

export const SmtpTestInput = fields
  .extend({ to: Email.optional().describe('Address the test mail is sent to; default is the caller’s own address') })
  .superRefine(complete)
  .meta({ example: { ...example, password: 'a mail password', to: 'anna.schmidt@example.org' } });
export type SmtpTestInput = z.output<typeof SmtpTestInput>;

/** A tenant's mail settings as shown: fields are null while nothing is set, and the password is never included. */
export const SmtpConfig = z
  .object({
    host: z.string().nullable(),
    port: z.int().nullable(),
    security: z.enum(['none', 'starttls', 'tls']).nullable(),
    username: z.string().nullable(),
    hasPassword: z.boolean(),
    fromAddress: z.string().nullable(),
    fromName: z.string().nullable(),
    replyTo: z.string().nullable(),
    verifyTls: z.boolean().nullable(),
    bugReportRecipient: z.string().nullable(),
    dailyLimit: z
      .int()
      .describe(
        'Mails this tenant may send per day (Berlin time) over the service’s own mail server; over the tenant’s own mail server there is no limit',
      ),
    sentToday: z.int().describe('How many of these mails were used today'),
    heldBackToday: z.int().describe('Mails given up today because this limit or the limit of one account was reached'),
  })
  .meta({
    id: 'SmtpConfig',
    example: { ...example, hasPassword: true, dailyLimit: 2_000, sentToday: 312, heldBackToday: 0 },
  });
export type SmtpConfig = z.output<typeof SmtpConfig>;
