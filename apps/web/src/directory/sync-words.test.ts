import { afterEach, describe, expect, it } from 'vitest';
import { language } from '../language.ts';
import { directoryFailure } from './directory-failure.ts';
import { syncWords } from './sync-words.ts';

const before = language.value;
afterEach(() => {
  language.value = before;
});

describe('what the service says about a synchronization', () => {
  it.each([
    ['Gets an account.', 'Bekommt ein Konto.'],
    ['Changes display name, e-mail.', 'Ändert sich: Anzeigename, E-Mail-Adresse.'],
    ['Is switched on again. Changes username.', 'Wird wieder aktiv. Ändert sich: Benutzername.'],
    [
      'A person was skipped: the username “anna” occurs more than once in the directory.',
      'Eine Person wurde übersprungen: Der Benutzername “anna” kommt im Verzeichnis mehrfach vor.',
    ],
    [
      'The account “a” keeps its username: the username “b” is not available.',
      'Das Konto “a” behält seinen Benutzernamen: “b” ist nicht verfügbar.',
    ],
    ['Something new.', 'Something new.'],
  ])('%s', (sentence, german) => {
    language.value = 'de';
    expect(syncWords(sentence)).toBe(german);
    language.value = 'en';
    expect(syncWords(sentence)).toBe(sentence);
  });

  it.each([
    ['credentials', 'The directory server [::1]:389 did not accept the bind DN or its password.'],
    ['certificate', 'The directory server ldap.example.org:636 shows a certificate that has expired.'],
    ['baseDn', 'The directory server a:389 has no entry at the base DN, or does not show it to the bind account.'],
    ['brake', '12 of 40 accounts that came from the directory would be switched off.'],
    ['other', 'The moon is full.'],
  ] as const)('about a failure of the kind %s', (kind, message) => {
    language.value = 'de';
    expect(directoryFailure(message)).toMatchObject({ kind });
    language.value = 'en';
    expect(directoryFailure(message)).toEqual({ kind, text: message });
  });

  it('leaves out how programs force it', () => {
    language.value = 'en';
    const reason = '12 of 40 accounts that came from the directory would be switched off.';
    const message = `${reason} Nothing was changed. If this is intended, start the synchronization with \`force\`.`;
    expect(directoryFailure(message).text).toBe(reason);
  });
});
