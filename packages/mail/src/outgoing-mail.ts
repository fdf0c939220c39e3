import type { SendMailOptions } from 'nodemailer';
import { isMailable } from '@portal/domain/mail-address';
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
  /** Where answers go; that of the settings unless given. */
  replyTo?: string;
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

/** Whether a mail may set this header itself. */
export const isExtraHeader = (name: string): boolean => {
  const lower = name.toLowerCase();
  return /^[a-z][a-z0-9-]{0,75}$/.test(lower) && !ownHeaders.has(lower) && !lower.startsWith('content-');
};

/** Longest value, so that one without a space, which cannot be folded, stays below the 998 characters of a line. */
const maxExtraHeader = 900;

const extraHeader = (name: string, value: string): string => {
  if (!isExtraHeader(name)) {
    throw new MailError('rejected', 'The mail was not sent, because it carries a header it must not set.');
  }
  if (value.length > maxExtraHeader || /\p{Cc}/u.test(value)) {
    throw new MailError('rejected', `The mail was not sent, because its ${name} header is too long or not one line.`);
  }
  return asTyped(value);
};

// Characters of a piece: a word of an encoded header takes at most 75, and a character up to four bytes.
const pieceOfWord = 10;

/** Text that looks like an encoded word is encoded, so that a reader sees it as it was typed and not what it would decode to. */
const asTyped = (text: string): string => {
  if (!text.includes('=?')) return text;
  const characters = [...text];
  const pieces = Array.from({ length: Math.ceil(characters.length / pieceOfWord) }, (_, at) =>
    characters.slice(at * pieceOfWord, (at + 1) * pieceOfWord).join(''),
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

/** The message for nodemailer; throws before anything is dialled when a value could break out of its header. */
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
    // Named here and not read back from the headers, so no display name can add a recipient.
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
