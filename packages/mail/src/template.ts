import type { z } from 'zod';
import type { Block } from './blocks.ts';
import { frameFor } from './frame.ts';
import type { Language, Sender } from './frame.ts';
import { htmlPage } from './layout.ts';
import { isExtraHeader } from './outgoing-mail.ts';
import { plainText } from './plain-text.ts';
import { cleanLines, oneLine } from './safe-text.ts';

export interface RenderedMail {
  subject: string;
  text: string;
  html?: string;
  headers?: Record<string, string>;
  replyTo?: string;
}

/** Additional headers by name; null leaves one out. */
export type Headers<Data> = Record<string, (data: Data) => string | null>;

/** A mail in one language. */
interface Wording<Data> {
  subject: (data: Data) => string;
  /** The line that mail clients show next to the subject; HTML only. */
  preview?: (data: Data) => string;
  heading?: (data: Data) => string;
  body: (data: Data) => Block[];
}

interface Definition<Schema extends z.ZodType<Sender & { language?: Language }>> {
  data: Schema;
  /** For kinds of mail that are plain text only. */
  format: 'text' | 'html-and-text';
  /** Such as `oneClickUnsubscribe`. */
  headers?: Headers<z.output<Schema>>;
  /** Address for replies; if missing or null, the one in the mail server's settings. */
  replyTo?: (data: z.output<Schema>) => string | null;
  wording: { de: Wording<z.output<Schema>>; en?: Wording<z.output<Schema>> };
}

export interface MailTemplate<Schema extends z.ZodType> {
  data: Schema;
  /** Parses the data, then renders; wrong data throws a ZodError. */
  render: (data: z.input<Schema>) => RenderedMail;
}

/** Maximum subject length in characters; placeholders can expand to any length. */
const maxSubject = 250;

const subjectLine = (subject: string): string => {
  const characters = [...oneLine(subject)];
  return characters.length <= maxSubject ? characters.join('') : `${characters.slice(0, maxSubject - 1).join('')}…`;
};

/** Headers and reply address of a mail. */
const extras = <Schema extends z.ZodType<Sender & { language?: Language }>>(
  { headers = {}, replyTo }: Definition<Schema>,
  data: z.output<Schema>,
): Pick<RenderedMail, 'headers' | 'replyTo'> => {
  const given = Object.entries(headers).flatMap(([name, valueOf]) => {
    const value = valueOf(data);
    return value === null ? [] : [[name, value]];
  });
  const address = replyTo?.(data) ?? null;
  return {
    ...(given.length > 0 && { headers: Object.fromEntries(given) }),
    ...(address !== null && { replyTo: address }),
  };
};

/** Throws if it sets a header that templates must not set. */
export const template = <Schema extends z.ZodType<Sender & { language?: Language }>>(
  definition: Definition<Schema>,
): MailTemplate<Schema> => {
  const refused = Object.keys(definition.headers ?? {}).filter((name) => !isExtraHeader(name));
  if (refused.length > 0) throw new Error(`a mail must not set ${JSON.stringify(refused)}`);
  return { data: definition.data, render: (input) => render(definition, definition.data.parse(input)) };
};

const render = <Schema extends z.ZodType<Sender & { language?: Language }>>(
  definition: Definition<Schema>,
  data: z.output<Schema>,
): RenderedMail => {
  const wanted = data.language ?? 'de';
  const english = wanted === 'en' ? definition.wording.en : undefined;
  const wording = english ?? definition.wording.de;
  const frame = frameFor(data, english === undefined ? 'de' : 'en');

  const subject = subjectLine(wording.subject(data));
  const heading = wording.heading === undefined ? undefined : cleanLines(wording.heading(data));
  const body = wording.body(data);
  const text = plainText(frame, heading, body);
  const mail = { subject, text, ...extras(definition, data) };
  if (definition.format === 'text') {
    return mail;
  }
  const preview = wording.preview === undefined ? undefined : oneLine(wording.preview(data));
  return { ...mail, html: htmlPage({ frame, subject, preview, heading, body }) };
};
