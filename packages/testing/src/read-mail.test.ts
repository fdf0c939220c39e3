import { expect, it } from 'vitest';
import { readMail } from './read-mail.ts';

const raw = (lines: string[]): Buffer => Buffer.from(lines.join('\r\n'), 'latin1');

it('reads nested parts, encodings and charsets', () => {
  const mail = readMail(
    raw([
      'Subject: =?utf-8?Q?Gr=C3=BC=C3=9Fe_?= =?utf-8?B?8J+mig==?=',
      'message-ID: <a@b>',
      'X-Folded: one',
      ' two',
      'Content-Type: multipart/mixed; boundary="outer"',
      '',
      'preamble',
      '--outer',
      'Content-Type: multipart/alternative;',
      ' boundary=inner',
      '',
      '--inner',
      'Content-Type: text/plain; charset=iso-8859-1',
      'Content-Transfer-Encoding: quoted-printable',
      '',
      'Gr=FC=',
      '=DFe',
      '--inner',
      'Content-Type: text/html; charset=utf-8',
      'Content-Transfer-Encoding: base64',
      '',
      Buffer.from('<p>Grüße</p>').toString('base64'),
      '--inner--',
      '--outer',
      'Content-Type: image/png',
      "Content-Disposition: attachment; filename*0*=utf-8''%C3%9Cber; filename*1=.png",
      'Content-Transfer-Encoding: base64',
      '',
      'AAEC',
      '--outer--',
      'epilogue',
    ]),
  );
  expect(mail).toMatchObject({ subject: 'Grüße 🦊', messageId: '<a@b>', text: 'Grüße', html: '<p>Grüße</p>' });
  expect(mail.headers.get('x-folded')).toBe('one two');
  expect(mail.attachments).toEqual([{ fileName: 'Über.png', contentType: 'image/png', bytes: Buffer.from([0, 1, 2]) }]);
});

it('reads a plain text mail', () => {
  expect(readMail(raw(['Subject: Hi', '', 'one', '', 'two']))).toMatchObject({
    subject: 'Hi',
    text: 'one\n\ntwo',
    html: null,
    attachments: [],
  });
});

it('refuses deep nesting and too many parts', () => {
  const nested = (depth: number): string[] =>
    depth === 0
      ? ['', 'x']
      : [`Content-Type: multipart/mixed; boundary=b${depth}`, '', `--b${depth}`, ...nested(depth - 1), `--b${depth}--`];
  expect(() => readMail(raw(nested(50)))).toThrow('nests parts deeper than 5 levels');
  const many = Array.from({ length: 200 }, () => ['--b', '', 'x']).flat();
  expect(() => readMail(raw(['Content-Type: multipart/mixed; boundary=b', '', ...many]))).toThrow(
    'more than 100 parts',
  );
});
