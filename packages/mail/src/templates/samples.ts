import type { z } from 'zod';
import type { Language } from '../frame.ts';
import { mailTime } from '../mail-time.ts';
import type { MailTemplate, RenderedMail } from '../template.ts';

/** A template's samples by variant: mails for preview and tests. */
export type Samples = Record<string, RenderedMail>;

export const serviceUrl = 'https://portal.example.com';
export const tenantName = 'Muster Maschinenbau GmbH';
export const sender = { tenantName, serviceUrl };
export const link = `${serviceUrl}/reset-password#token=Q2hlY2sgdGhlIGxlbmd0aCBvZiB0aGlzIHRva2Vu-x0_9dGhlbg`;
export const weekLater = new Date('2026-11-28T08:44:00Z');
export const summerDay = new Date('2026-07-03T15:05:00Z');
export const person = { displayName: 'Erika Beispiel', username: 'erika.beispiel' };

/** Everything that has ever broken a mail: markup, quotes, direction marks, a very long word, line breaks. */
export const edgeCase = {
  displayName: `<b onclick="x">“Dr.” O'Brien & Söhne</b> محمد \u202Eevil\u202C 🦊\nBcc: x@example.com ${'Donaudampfschifffahrtsgesellschaft'.repeat(6)}`,
  username: `${'lang'.repeat(31)}@ad`,
};

export const samplesOf = <Schema extends z.ZodType>(
  { render }: MailTemplate<Schema>,
  variants: Record<string, z.input<Schema>>,
): Samples => Object.fromEntries(Object.entries(variants).map(([variant, data]) => [variant, render(data)]));

/** One sample per language for an ordinary and for an edge-case account. */
export const accountSamples = <Schema extends z.ZodType>(
  template: MailTemplate<Schema>,
  data: (account: typeof person & { language: Language }, timeOf: (instant: Date) => string) => z.input<Schema>,
): Samples => {
  const inLanguage = (language: Language) => {
    const dataOf = (account: typeof person) => data({ ...account, language }, (instant) => mailTime(instant, language));
    return samplesOf(template, { [language]: dataOf(person), [`${language}-edge-case`]: dataOf(edgeCase) });
  };
  return { ...inLanguage('de'), ...inLanguage('en') };
};
