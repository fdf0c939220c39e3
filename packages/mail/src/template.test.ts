import { expect, it } from 'vitest';
import { z } from 'zod';
import { p } from './blocks.ts';
import { Sender } from './frame.ts';
import { type Headers, template } from './template.ts';
import { oneClickUnsubscribe } from './unsubscribe.ts';

const digest = (headers: Headers<{ unsubscribeUrl: string }>) =>
  template({
    format: 'text',
    data: Sender.extend({ unsubscribeUrl: z.string() }),
    headers,
    replyTo: ({ tenantName }) => (tenantName === '' ? null : 'it@muster.example'),
    wording: { de: { subject: () => 'Neues', body: () => [p`Neues.`] } },
  });
const headersOf = (unsubscribeUrl: string) => digest(oneClickUnsubscribe).render({ tenantName: 'M', unsubscribeUrl });

it('offers one-click unsubscribe with an escaped URL', () => {
  expect(headersOf('https://portal.example/u/T').headers).toEqual({
    'List-Unsubscribe': '<https://portal.example/u/T>',
    'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click',
  });
  const hostile = headersOf('https://portal.example/u/ä>\r\nBcc: x@example.com, <mailto:y@example.com>?a= b');
  expect(hostile.headers?.['List-Unsubscribe']).toMatch(/^<https:\/\/portal\.example\/u\/[!-;=?-~]+>$/);
});

it('leaves out headers without data', () => {
  expect(digest({ 'List-Id': () => null }).render({ tenantName: '', unsubscribeUrl: '' })).toEqual({
    subject: 'Neues',
    text: expect.any(String),
  });
});

it.each(['Bcc', 'reply-to', 'Content-Type', 'X: y\r\nBcc', 'X Y', ''])(
  'refuses to be defined with the header %j',
  (name) => {
    expect(() => digest({ [name]: () => 'x' })).toThrow('a mail must not set');
  },
);
