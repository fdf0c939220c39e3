import type { z } from 'zod';
import type { Block } from './blocks.ts';
import { frameFor } from './frame.ts';
import type { Language, Sender } from './frame.ts';
import { htmlPage } from './layout.ts';
import { plainText } from './plain-text.ts';
import { cleanLines, oneLine } from './safe-text.ts';

export interface RenderedMail {
  subject: string;
  text: string;
  html?: string;
}

/** A mail in one language. */
interface Wording<Data> {
  subject: (data: Data) => string;
  /** The line a mailbox shows beside the subject; HTML only. */
  preview?: (data: Data) => string;
  heading?: (data: Data) => string;
  body: (data: Data) => Block[];
}

interface Definition<Schema extends z.ZodType<Sender & { language?: Language }>> {
  data: Schema;
  /** Contract section 4 names the kinds that are text alone. */
  format: 'text' | 'html-and-text';
  wording: { de: Wording<z.output<Schema>>; en?: Wording<z.output<Schema>> };
}

export interface MailTemplate<Schema extends z.ZodType> {
  data: Schema;
  /** Parses the data, then renders; wrong data throws a ZodError. */
  render: (data: z.input<Schema>) => RenderedMail;
}

/** Longest subject, in characters. Placeholders can make one of any length. */
const maxSubject = 250;

const subjectLine = (subject: string): string => {
  const characters = [...oneLine(subject)];
  return characters.length <= maxSubject ? characters.join('') : `${characters.slice(0, maxSubject - 1).join('')}…`;
};

export const template = <Schema extends z.ZodType<Sender & { language?: Language }>>(
  definition: Definition<Schema>,
): MailTemplate<Schema> => ({
  data: definition.data,
  render: (input) => {
    const data = definition.data.parse(input);
    const wanted = data.language ?? 'de';
    const english = wanted === 'en' ? definition.wording.en : undefined;
    const wording = english ?? definition.wording.de;
    const frame = frameFor(data, english === undefined ? 'de' : 'en');

    const subject = subjectLine(wording.subject(data));
    const heading = wording.heading === undefined ? undefined : cleanLines(wording.heading(data));
    const body = wording.body(data);
    const text = plainText(frame, heading, body);
    if (definition.format === 'text') {
      return { subject, text };
    }
    const preview = wording.preview === undefined ? undefined : oneLine(wording.preview(data));
    return { subject, text, html: htmlPage({ frame, subject, preview, heading, body }) };
  },
});
