import { describe, expect, it } from 'vitest';
import {
  builtInWelcomeMail,
  fillPlaceholders,
  findUnknownPlaceholders,
  loginHint,
  sampleWelcomePerson,
  welcomeMailValues,
  WelcomeMailTemplate,
} from './welcome-mail.ts';

const portal = { adresse: 'https://portal.example.com', firma: 'Muster GmbH' };
const values = welcomeMailValues(sampleWelcomePerson, portal);
const fields = { subject: 'Betreff', heading: 'Kopf', intro: 'Text', closing: 'Gruß' };

describe('the template fields', () => {
  it('stores an empty or missing hint as null', () => {
    expect(WelcomeMailTemplate.parse({ ...fields, loginHintLocal: ' \n ' })).toEqual({
      ...fields,
      loginHintDirectory: null,
      loginHintLocal: null,
    });
  });

  it('keeps paragraphs but not carriage returns or outer blank lines', () => {
    expect(WelcomeMailTemplate.parse({ ...fields, intro: '\r\nEins\r\n\r\nZwei\r' }).intro).toBe('Eins\n\nZwei');
  });

  it('returns accepted values unchanged', () => {
    const stored = WelcomeMailTemplate.parse({ ...fields, loginHintLocal: 'Hinweis' });
    expect(WelcomeMailTemplate.encode(stored)).toEqual(stored);
  });

  it.each([
    ['a subject of two lines', { subject: 'Eins\nZwei' }],
    ['a subject over 200 characters', { subject: 'x'.repeat(201) }],
    ['an empty subject', { subject: '  ' }],
    ['an empty heading', { heading: '' }],
    ['an intro over 10,000 characters', { intro: 'x'.repeat(10_001) }],
    ['a NUL', { closing: 'Gruß\u0000' }],
    ['a hint over 1000 characters', { loginHintDirectory: 'x'.repeat(1_001) }],
    ['a null heading', { heading: null }],
  ])('refuses %s', (_, change) => {
    expect(WelcomeMailTemplate.safeParse({ ...fields, ...change }).success).toBe(false);
  });

  it('accepts the built-in text, which uses known placeholders only', () => {
    expect(WelcomeMailTemplate.parse(builtInWelcomeMail)).toEqual(builtInWelcomeMail);
    const withHints = {
      ...builtInWelcomeMail,
      loginHintDirectory: loginHint(builtInWelcomeMail, 'directory'),
      loginHintLocal: loginHint(builtInWelcomeMail, 'local'),
    };
    expect(findUnknownPlaceholders(withHints)).toEqual([]);
    expect(WelcomeMailTemplate.parse(withHints)).toEqual(withHints);
  });
});

describe('placeholders', () => {
  it('reports every unknown one once per field', () => {
    const template = WelcomeMailTemplate.parse({
      ...fields,
      subject: '{{nachname}} {{ nachname }} {{name}}',
      intro: '{{Name}} {{}} {{constructor}}',
      loginHintLocal: '{{{passwort}}}',
    });
    expect(findUnknownPlaceholders(template)).toEqual([
      { field: 'subject', name: 'nachname' },
      { field: 'intro', name: 'Name' },
      { field: 'intro', name: '' },
      { field: 'intro', name: 'constructor' },
      { field: 'loginHintLocal', name: 'passwort' },
    ]);
  });

  it('fills all six, with or without inner spaces', () => {
    const filled = fillPlaceholders('{{name}}|{{ vorname }}|{{benutzername}}|{{email}}|{{adresse}}|{{firma}}', values);
    expect(filled).toBe(
      'Erika Beispiel|Erika|erika.beispiel|erika.beispiel@example.com|https://portal.example.com|Muster GmbH',
    );
  });

  it('does not fill placeholders inside values', () => {
    expect(fillPlaceholders('{{name}}', { ...values, name: '{{email}} $& $1' })).toBe('{{email}} $& $1');
  });

  it('keeps a value on one line', () => {
    expect(fillPlaceholders('Guten Tag {{name}}!', { ...values, name: ' Erika\r\n\r\nBeispiel ' })).toBe(
      'Guten Tag Erika Beispiel!',
    );
  });

  it('leaves single and unclosed braces alone', () => {
    expect(fillPlaceholders('{name} {{name {{', values)).toBe('{name} {{name {{');
  });

  it('reads ten thousand braces without backtracking', () => {
    expect(fillPlaceholders('{'.repeat(10_000), values)).toBe('{'.repeat(10_000));
    expect(fillPlaceholders('{{a'.repeat(3_333), values)).toBe('{{a'.repeat(3_333));
  });
});

describe('values', () => {
  it('falls back from first name to display name to username', () => {
    const person = { username: 'm.muster', displayName: null, firstName: null, email: null };
    expect(welcomeMailValues(person, portal)).toEqual({
      name: 'm.muster',
      vorname: 'm.muster',
      benutzername: 'm.muster',
      email: '',
      ...portal,
    });
    expect(welcomeMailValues({ ...person, displayName: 'Max Muster' }, portal).vorname).toBe('Max Muster');
  });

  it('prefers the tenant’s hint to the built-in one', () => {
    const hints = { loginHintDirectory: 'Wie am Arbeitsplatz.', loginHintLocal: null };
    expect(loginHint(hints, 'directory')).toBe('Wie am Arbeitsplatz.');
    expect(loginHint(hints, 'local')).toContain('{{benutzername}}');
  });
});
