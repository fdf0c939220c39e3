import { describe, expect, it } from 'vitest';
import { ZodError } from 'zod';
import { builtInWelcomeMail, sampleWelcomePerson, welcomeMailValues } from '@portal/domain/mail-settings/welcome-mail';
import { kinds } from '@portal/testing/mail-kinds';
import { mailKinds, sampleMails, templateFile } from '@portal/testing/sample-mails';
import { passwordChanged } from './accounts/password-changed.ts';
import { passwordReset } from './accounts/password-reset.ts';
import { welcome } from './accounts/welcome.ts';

const serviceUrl = 'https://portal.example.com';
const sender = { tenantName: 'Muster GmbH', serviceUrl };
const link = `${serviceUrl}/reset-password#token=abc_-123`;
const reset = { ...sender, displayName: 'Erika', username: 'erika', link, validUntil: '28. November 2026' };
const values = welcomeMailValues(sampleWelcomePerson, { adresse: serviceUrl, firma: sender.tenantName });
const invited = {
  ...sender,
  template: builtInWelcomeMail,
  values,
  invitation: { kind: 'set-password' as const, link, validUntil: '28. November 2026' },
};

const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };

/** The visible words of the HTML. */
const visibleWords = (html: string): string[] =>
  html
    .replaceAll(/<head>[^]*<\/head>|<!--[^]*?-->|<[^>]*>/g, ' ')
    .replaceAll(/&(#?\w+);/g, (_, name: string) => entities[name] ?? ' ')
    .split(/\s+/);

const unclosedTags = (html: string): string[] => {
  const open: string[] = [];
  for (const [, slash, name = ''] of html
    .replaceAll(/<!--[^]*?-->|<!doctype html>/g, '')
    .matchAll(/<(\/?)([\w]+)[^>]*>/g)) {
    if (slash === '/') {
      expect(open.pop()).toBe(name);
    } else if (name !== 'meta' && name !== 'br') {
      open.push(name);
    }
  }
  return open;
};

const samples = await sampleMails();
const named = samples.map((sample) => ({ name: `${sample.kind} ${sample.variant}`, ...sample.mail }));

describe.each(named)('$name', ({ subject, text }) => {
  it('has a subject of one line', () => {
    expect(subject).toMatch(/^\S[^\n\r]{0,248}\S$/u);
  });

  it('wraps its text at 76 columns except where a word is longer', () => {
    const tooLong = text.split('\n').filter((line) => [...line].length > 76 && line.trim().includes(' '));
    expect(tooLong.filter((line) => !line.startsWith('Benutzername:'))).toEqual([]);
    expect(text).not.toMatch(/undefined|\[object|\r|\n\n\n/);
  });
});

describe.each(named.filter((mail) => mail.html !== undefined))('$name as HTML', ({ text, html = '' }) => {
  it('has the same words as the text', () => {
    const seen = new Set(visibleWords(html));
    const words = text.split(/\s+/).filter((word) => word !== '' && !/^(=+|--|\|)$/.test(word));
    expect(words.filter((word) => !seen.has(word) && !seen.has(word.replace(/:$/, '')))).toEqual([]);
  });

  it('loads nothing, runs nothing and closes every tag', () => {
    expect(html).not.toMatch(
      /<(script|img|link|iframe|form|svg|object)\b|url\(|@import|<[^>]+\s(src|background|on\w+)=/i,
    );
    expect(unclosedTags(html)).toEqual([]);
  });

  it('links every address on its own line', () => {
    const addresses = text.split('\n').filter((line) => /^https?:\S+$/.test(line));
    expect(addresses.filter((address) => !html.includes(`href="${address}"`))).toEqual([]);
  });

  it('is short enough for Gmail, which cuts off mails after 102 kB', () => {
    expect(Buffer.byteLength(html)).toBeLessThan(102_000);
  });

  it('is at most 600 px wide and supports dark mode', () => {
    expect(html).toContain('max-width:600px');
    expect(html).toContain('prefers-color-scheme:dark');
    expect(html).toContain('<meta name="color-scheme" content="light dark">');
  });
});

it.each(mailKinds)('%s is one template, with samples beside it', async (kind) => {
  expect(Object.values(await templateFile(kind))).toEqual([{ data: expect.anything(), render: expect.any(Function) }]);
  expect(samples.map((sample) => sample.kind)).toContain(kind);
});

it.each([...kinds])(
  '%s, which an area sends, has its template in the file of that name',
  async (kind, { template }) => {
    expect(Object.values(await templateFile(kind))).toContain(template);
  },
);

describe('the reset mail', () => {
  it('is text only, with the link on its own line', () => {
    const mail = passwordReset.render(reset);
    expect(mail).not.toHaveProperty('html');
    expect(mail.text.split('\n')).toContain(link);
    expect(mail.subject).toBe('Passwort zurücksetzen');
  });

  it('is in English on request', () => {
    const mail = passwordReset.render({ ...reset, language: 'en' });
    expect(mail.subject).toBe('Reset your password');
    expect(mail.text).toContain('Hello Erika,');
    expect(mail.text).toContain('sent automatically by the portal of Muster GmbH');
  });

  it.each(['javascript:alert(1)', 'data:text/html,x', 'portal', ''])('refuses the link %j', (bad) => {
    expect(() => passwordReset.render({ ...reset, link: bad })).toThrow(ZodError);
  });
});

it('reports a changed password without any link', () => {
  for (const language of ['de', 'en'] as const) {
    const mail = passwordChanged.render({
      tenantName: 'Muster GmbH',
      language,
      displayName: 'Erika',
      username: 'erika',
      changedAt: '21. November 2026',
    });
    expect(mail).not.toHaveProperty('html');
    expect(mail.text).not.toMatch(/https?:|www\./);
  }
});

describe('the welcome mail', () => {
  it('gives a local account the link to set its password', () => {
    const mail = welcome.render(invited);
    expect(mail.html).toContain(`href="${link}"`);
    expect(mail.text.split('\n')).toContain(link);
    expect(mail.text).toContain('7 Tage, bis zum 28. November 2026');
    expect(mail.text).toContain('Bitte legen Sie zuerst');
  });

  it('gives a directory account the sign-in link and the hint about its password', () => {
    const mail = welcome.render({ ...invited, invitation: { kind: 'sign-in', link: serviceUrl } });
    expect(mail.text).toContain('Zur Anmeldung:\nhttps://portal.example.com\n');
    expect(mail.text).toMatch(/Passwort an,\sdas Sie auch sonst/);
    expect(mail.text + mail.html).not.toContain('token');
  });

  it('contains no token if it is a test, and says that it is one', () => {
    const mail = welcome.render({
      ...invited,
      invitation: { kind: 'test', link: serviceUrl, source: 'local' },
    });
    expect(mail.subject).toBe('[Test] Ihr Zugang zum Portal von Muster GmbH');
    expect(mail.text).toContain('| Dies ist ein Test der Willkommens-Mail.');
    expect(mail.text + mail.html).not.toContain('token');
  });

  it('prefers the tenant’s own hint', () => {
    const mail = welcome.render({
      ...invited,
      template: { ...builtInWelcomeMail, loginHintLocal: 'Eigener Hinweis für {{name}}' },
    });
    expect(mail.text).toContain('Eigener Hinweis für Erika Beispiel');
    expect(mail.text).not.toContain('Bitte legen Sie zuerst');
  });

  it('shows markup in fields and values as the text it is', () => {
    const mail = welcome.render({
      ...invited,
      template: { ...builtInWelcomeMail, intro: '<script>alert(1)</script> {{name}} {{firma}}' },
      values: { ...values, name: '<img src=x onerror=alert(1)>', firma: '"&\'{{email}}' },
    });
    expect(mail.html).toContain('&lt;script&gt;alert(1)&lt;/script&gt; &lt;img src=x onerror=alert(1)&gt;');
    expect(mail.html).not.toMatch(/<script|<img/);
    expect(mail.text).toContain('<script>alert(1)</script> <img src=x onerror=alert(1)> "&\'{{email}}');
  });

  it('keeps paragraphs and line ends of a field', () => {
    const mail = welcome.render({
      ...invited,
      template: { ...builtInWelcomeMail, closing: 'Eins\nZwei\n\n\nDrei' },
    });
    expect(mail.text).toContain('Eins\nZwei\n\nDrei');
    expect(mail.html).toMatch(/Eins<br>Zwei<\/p>\n<p [^>]*>Drei<\/p>/);
  });

  it('shortens a subject that a placeholder made too long', () => {
    const mail = welcome.render({ ...invited, values: { ...values, firma: '🦊'.repeat(5_000) } });
    expect([...mail.subject]).toHaveLength(250);
    expect(mail.subject.endsWith('🦊…')).toBe(true);
  });
});
