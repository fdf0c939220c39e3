import { afterEach, expect, test } from 'vitest';
import { PortalError } from '@portal/client/portal-error';
import { errorCodes } from '@portal/domain/error-codes';
import { errorTexts, fieldText, sentenceFor } from './error-texts.ts';
import { type Language, language } from './language.ts';

const before = language.value;
afterEach(() => {
  language.value = before;
});

const refused = (code: string, message: string, retryAfterSec: number | null = null) =>
  new PortalError({ code, message }, { status: 400, retryAfterSec });

const inBoth = (of: () => string): Record<Language, string> => {
  const said = (wanted: Language) => {
    language.value = wanted;
    return of();
  };
  return { de: said('de'), en: said('en') };
};

test('our own words replace the general message of a code', () => {
  for (const [code, { message }] of Object.entries(errorCodes)) {
    const { de, en } = inBoth(() => sentenceFor(refused(code, message)));
    const own = inBoth(() => errorTexts.value[code as keyof typeof errorCodes]);
    expect(de, code).toContain(own.de);
    expect(en, code).toContain(own.en);
    expect(de, code).not.toContain('Meldung:');
  }
});

test('all words are whole sentences', () => {
  for (const language of ['de', 'en'] as const)
    for (const [code, words] of Object.entries(inBothCatalogues()[language])) {
      expect(words, code).toMatch(/^\p{Lu}.*[.]$/u);
      expect(words, code).not.toMatch(/\.\.\.|"| {2}/);
    }
});

const inBothCatalogues = () => {
  const words = (wanted: Language) => {
    language.value = wanted;
    return errorTexts.value;
  };
  return { de: words('de'), en: words('en') };
};

test('a pause is named', () => {
  expect(inBoth(() => sentenceFor(refused('RATE_LIMITED', 'Wait.', 45)))).toEqual({
    de: 'Das waren zu viele Versuche in kurzer Zeit. Bitte versuchen Sie es in 45 Sekunden erneut.',
    en: 'These were too many attempts in a short time. Please try again in 45 seconds.',
  });
  expect(inBoth(() => sentenceFor(refused('RATE_LIMITED', 'Wait.', 900)))).toEqual({
    de: 'Das waren zu viele Versuche in kurzer Zeit. Bitte versuchen Sie es in 15 Minuten erneut.',
    en: 'These were too many attempts in a short time. Please try again in 15 minutes.',
  });
  expect(inBoth(() => sentenceFor(refused('POLL_LOCKED', 'Wait.')))).toEqual({
    de: 'Die letzte Abfrage hat gerade erst begonnen. Bitte versuchen Sie es später erneut.',
    en: 'The last check has only just started. Please try again later.',
  });
});

test('a message that says more is translated', () => {
  expect(
    inBoth(() => sentenceFor(refused('PASSWORD_POLICY', 'The new password must have at least 10 characters.'))),
  ).toEqual({
    de: 'Das neue Passwort muss mindestens 10 Zeichen lang sein.',
    en: 'The new password must have at least 10 characters.',
  });
  expect(inBoth(() => sentenceFor(refused('OUTBOUND_TIMEOUT', 'www.example.org did not answer in time.')))).toEqual({
    de: 'www.example.org hat nicht rechtzeitig geantwortet. Bitte versuchen Sie es später erneut.',
    en: 'www.example.org did not answer in time.',
  });
});

test('a message without a translation is quoted', () => {
  expect(inBoth(() => sentenceFor(refused('DIRECTORY_UNAVAILABLE', 'The server refused the account.')))).toEqual({
    de: 'Der Verzeichnisserver ist nicht erreichbar. Bitte prüfen Sie die Einstellungen. Meldung: „The server refused the account.“',
    en: 'The server refused the account.',
  });
});

test('an unknown code shows the message of the service', () => {
  expect(inBoth(() => sentenceFor(refused('STEP_UP_REQUIRED', 'Please prove who you are.')))).toEqual({
    de: 'Please prove who you are.',
    en: 'Please prove who you are.',
  });
  expect(sentenceFor(refused('toString', 'Odd.'))).toBe('Odd.');
});

test.each([
  ['must not be empty', 'Bitte ausfüllen.', 'Please fill this in.'],
  [
    'Too big: expected string to have <=200 characters',
    'Höchstens 200 Zeichen sind möglich.',
    'At most 200 characters are possible.',
  ],
  ['Too small: expected string to have >=1 characters', 'Bitte ausfüllen.', 'Please fill this in.'],
  ['Too small: expected number to be >=1', 'Mindestens 1 ist nötig.', 'At least 1 is needed.'],
  ['Invalid input: expected string, received null', 'Bitte ausfüllen.', 'Please fill this in.'],
  [
    'Invalid option: expected one of "a"|"b"',
    'Bitte einen der angebotenen Werte wählen.',
    'Please choose one of the values on offer.',
  ],
  ['Invalid email address', 'Bitte eine gültige E-Mail-Adresse eingeben.', 'Please enter a valid e-mail address.'],
  ['must lie in the future', 'Bitte einen Zeitpunkt in der Zukunft wählen.', 'Must lie in the future.'],
  ['must have 1 to 5 digits', 'Bitte 1 bis 5 Ziffern eingeben.', 'Must have 1 to 5 digits.'],
  ['must be 2 to 8 digits', 'Bitte 2 bis 8 Ziffern eingeben.', 'Must be 2 to 8 digits.'],
  [
    'must be an http or https address',
    'Bitte eine Adresse mit http:// oder https:// angeben.',
    'Must be an http or https address.',
  ],
  ['is odd', 'Is odd.', 'Is odd.'],
])('field: %s', (message, de, en) => {
  expect(inBoth(() => fieldText(message))).toEqual({ de, en });
});
