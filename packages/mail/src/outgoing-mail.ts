import type { SendMailOptions } from 'nodemailer';
import { isMailable } from '@portal/domain/mail-address';
import { MailError } from './mail-error.ts';
import type { SmtpSettings } from './smtp-settings.ts';

export interface OutgoingMail {
  to: { address: string; name?: string | null };
  subject: string;
  text: string;
  html?: string;
  /** Including the angle brackets, see `messageIdFor`. */
  messageId: string;
  date?: Date;
  /** Address for replies; default: the one in the settings. */
  replyTo?: string;
  /** Further headers such as `List-Unsubscribe`; the headers that this file sets are refused. */
  headers?: Record<string, string>;
  attachments?: { fileName: string; contentType: string; bytes: Uint8Array }[];
}

/** Maximum size of bodies and attachments together; our largest mail is a bug report with a 4 MiB screenshot. */
const maxBytes = 10 * 1024 * 1024;

// These end a header line or a C string: no value may start another header or command.
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

const checkAddress = (failure: 'recipient' | 'rejected', what: string, address: string): string => {
  if (!isMailable(address)) {
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

/** Whether a template may set this header. */
export const isExtraHeader = (name: string): boolean => {
  const lower = name.toLowerCase();
  return /^[a-z][a-z0-9-]{0,75}$/.test(lower) && !ownHeaders.has(lower) && !lower.startsWith('content-');
};

/** A value without spaces cannot be folded; this keeps it below the 998 characters of a line. */
const maxExtraHeader = 900;

const extraHeader = (name: string, value: string): string => {
  if (!isExtraHeader(name)) {
    throw new MailError('rejected', 'The mail was not sent, because it contains a header that mails must not set.');
  }
  if (value.length > maxExtraHeader || /\p{Cc}/u.test(value)) {
    throw new MailError(
      'rejected',
      `The mail was not sent, because its ${name} header is too long or has more than one line.`,
    );
  }
  return asTyped(value);
};

// Characters per encoded word: an encoded word has at most 75 characters, and a character up to four bytes.
const charactersPerWord = 10;

/** Encodes text that looks like an encoded word, so that readers see it as it was typed instead of decoded. */
const asTyped = (text: string): string => {
  if (!text.includes('=?')) return text;
  const characters = [...text];
  const pieces = Array.from({ length: Math.ceil(characters.length / charactersPerWord) }, (_, at) =>
    characters.slice(at * charactersPerWord, (at + 1) * charactersPerWord).join(''),
  );
  return pieces.map((piece) => `=?UTF-8?B?${Buffer.from(piece).toString('base64')}?=`).join(' ');
};

const checkSize = (mail: OutgoingMail): void => {
  const attached = (mail.attachments ?? []).reduce((sum, { bytes }) => sum + bytes.byteLength, 0);
  const bytes = Buffer.byteLength(mail.text) + Buffer.byteLength(mail.html ?? '') + attached;
  if (bytes > maxBytes) {
    throw new MailError('rejected', `The mail was not sent, because it is larger than ${maxBytes / 1024 / 1024} MiB.`);
  }
};

/** The message for nodemailer. Throws a MailError, before any connection, if a value could break out of its header. */
export const composeMail = (mail: OutgoingMail, settings: SmtpSettings): SendMailOptions => {
  const to = checkAddress('recipient', 'recipient', mail.to.address);
  const from = checkAddress('rejected', 'sender', settings.fromAddress);
  if (!/^<[!-;=?A-~]{1,120}@[!-;=?A-~]{1,253}>$/.test(mail.messageId)) {
    throw new MailError('rejected', 'The mail was not sent, because its Message-ID is malformed.');
  }
  checkSize(mail);
  const replyTo = mail.replyTo ?? settings.replyTo;
  return {
    from: mailbox(from, 'sender', settings.fromName),
    to: mailbox(to, 'recipient', mail.to.name),
    ...(replyTo ? { replyTo: checkAddress('rejected', 'reply address', replyTo) } : {}),
    // Set explicitly and not read from the headers, so that no display name can add a recipient.
    envelope: { from, to: [to] },
    subject: asTyped(checkHeader('subject', mail.subject)),
    text: mail.text,
    ...(mail.html === undefined ? {} : { html: mail.html }),
    messageId: mail.messageId,
    date: mail.date ?? new Date(),
    headers: {
      'Auto-Submitted': 'auto-generated',
      ...Object.fromEntries(
        Object.entries(mail.headers ?? {}).map(([name, value]) => [name, extraHeader(name, value)]),
      ),
    },
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
