import type { SendMailOptions } from 'nodemailer';
import { MailError } from './mail-error.ts';
import type { SmtpSettings } from './smtp-settings.ts';

export interface OutgoingMail {
  to: { address: string; name?: string | null };
  subject: string;
  text: string;
  html?: string;
  /** With its angle brackets, see `messageIdFor`. */
  messageId: string;
  date?: Date;
  /** Further headers such as `List-Unsubscribe`; those this file sets itself are refused. */
  headers?: Record<string, string>;
  attachments?: { fileName: string; contentType: string; bytes: Uint8Array }[];
}

/** Largest sum of bodies and attachments; the biggest mail we know is a bug report with a 4 MiB screenshot. */
const maxBytes = 10 * 1024 * 1024;

// What ends a header line or a C string: nobody gets to start a header or a command of their own.
// oxlint-disable-next-line no-control-regex -- naming control characters is the purpose
const lineEnd = /[\u0000\r\n]/;

const checkHeader = (what: string, value: string): string => {
  if (lineEnd.test(value)) {
    throw new MailError(
      'rejected',
      `The mail was not sent, because its ${what} contains a line break or NUL character.`,
    );
  }
  return value;
};

/*
 * A plain local part, ASCII or not, and a domain or address literal: nothing that a header or an SMTP command could
 * read as more than one address. Quoted local parts are left out; no mailbox we write to has one.
 */
const addressForm = /^[^\s\p{Cc}@<>()[\]\\,;:"]{1,64}@([^\s\p{Cc}@<>()[\]\\,;:"]{1,253}|\[[0-9A-Za-z.:]{2,60}\])$/u;

const checkAddress = (failure: 'recipient' | 'rejected', what: string, address: string): string => {
  if (address.length > 254 || !addressForm.test(address)) {
    throw new MailError(failure, `The mail was not sent, because its ${what} is not a valid e-mail address.`);
  }
  return address;
};

const mailbox = (address: string, what: string, name: string | null | undefined) => ({
  name: checkHeader(`${what} name`, name?.trim() ?? ''),
  address,
});

const ownHeaders = new Set([
  'from',
  'to',
  'cc',
  'bcc',
  'sender',
  'reply-to',
  'subject',
  'date',
  'message-id',
  'auto-submitted',
  'mime-version',
]);

const checkExtraHeaders = (headers: Record<string, string>): Record<string, string> => {
  for (const [name, value] of Object.entries(headers)) {
    const lower = name.toLowerCase();
    if (!/^[a-z][a-z0-9-]{0,75}$/.test(lower) || ownHeaders.has(lower) || lower.startsWith('content-')) {
      throw new MailError('rejected', 'The mail was not sent, because it carries a header it must not set.');
    }
    checkHeader(`${name} header`, value);
  }
  return headers;
};

const checkSize = (mail: OutgoingMail): void => {
  const attached = (mail.attachments ?? []).reduce((sum, { bytes }) => sum + bytes.byteLength, 0);
  const bytes = Buffer.byteLength(mail.text) + Buffer.byteLength(mail.html ?? '') + attached;
  if (bytes > maxBytes) {
    throw new MailError('rejected', `The mail was not sent, because it is larger than ${maxBytes / 1024 / 1024} MiB.`);
  }
};

/** The message for nodemailer; throws before anything is dialled when a value could break out of its header. */
export const composeMail = (mail: OutgoingMail, settings: SmtpSettings): SendMailOptions => {
  const to = checkAddress('recipient', 'recipient', mail.to.address);
  const from = checkAddress('rejected', 'sender', settings.fromAddress);
  if (!/^<[!-;=?A-~]{1,120}@[!-;=?A-~]{1,253}>$/.test(mail.messageId)) {
    throw new MailError('rejected', 'The mail was not sent, because its Message-ID is malformed.');
  }
  checkSize(mail);
  return {
    from: mailbox(from, 'sender', settings.fromName),
    to: mailbox(to, 'recipient', mail.to.name),
    ...(settings.replyTo ? { replyTo: checkAddress('rejected', 'reply address', settings.replyTo) } : {}),
    // Named here and not read back from the headers, so no display name can add a recipient.
    envelope: { from, to: [to] },
    subject: checkHeader('subject', mail.subject),
    text: mail.text,
    ...(mail.html === undefined ? {} : { html: mail.html }),
    messageId: mail.messageId,
    date: mail.date ?? new Date(),
    headers: { 'Auto-Submitted': 'auto-generated', ...checkExtraHeaders(mail.headers ?? {}) },
    attachments: (mail.attachments ?? []).map(({ fileName, contentType, bytes }) => ({
      filename: checkHeader('attachment name', fileName),
      contentType: checkHeader('attachment type', contentType),
      content: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
    })),
    textEncoding: 'quoted-printable',
    xMailer: false,
    disableFileAccess: true,
    disableUrlAccess: true,
  };
};
