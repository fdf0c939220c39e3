import { expect, it } from 'vitest';
import { button, hint, p, prose, rows } from './blocks.ts';
import { frameFor } from './frame.ts';
import { plainText } from './plain-text.ts';

const frame = frameFor({ tenantName: 'Muster GmbH', serviceUrl: 'https://portal.example.com' }, 'en');
const words = (count: number) => Array.from({ length: count }, (_, index) => `word${index}`).join(' ');

it('reads as a letter with a signature', () => {
  const body = [
    p`Hello ${' Erika\r\nBeispiel '},`,
    ...prose('First line\nsecond line\n\n\nNext paragraph'),
    rows({ Server: 'mail.example.com', Encryption: 'TLS', Nothing: ' ' }),
    button('https://portal.example.com/a', 'Open it'),
  ];
  expect(plainText(frame, 'A heading', body)).toBe(
    `A heading
=========

Hello Erika Beispiel,

First line
second line

Next paragraph

Server:      mail.example.com
Encryption:  TLS

Open it:
https://portal.example.com/a

-- 
This e-mail was sent automatically by the portal of Muster GmbH.
https://portal.example.com
`,
  );
});

it('keeps the margin of a hint and of a row over several lines', () => {
  const text = plainText(frame, undefined, [hint`${words(20)}`, rows({ Label: words(20) })]);
  const [first = '', second = ''] = text.split('\n\n');
  expect(first.split('\n').map((line) => line.slice(0, 2))).toEqual(['| ', '| ']);
  expect(second.split('\n').map((line) => line.slice(0, 8))).toEqual(['Label:  ', '        ']);
});

it('never breaks a word', () => {
  const long = 'x'.repeat(200);
  expect(plainText(frame, undefined, [p`a ${long} b`])).toMatch(new RegExp(`^a\n${long}\nb\n`));
});

it('leaves an empty table out', () => {
  expect(plainText(frame, undefined, [p`a`, rows({ Label: '' }), p`b`])).toMatch(/^a\n\nb\n/);
});
