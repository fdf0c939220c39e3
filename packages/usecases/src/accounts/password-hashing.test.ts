import { hash } from 'argon2';
import { expect, it } from 'vitest';
import { openPasswordHashing } from './password-hashing.ts';

it('hashes with argon2id at 19 MiB, two passes, one lane', async () => {
  const passwords = openPasswordHashing();
  const stored = await passwords.hash('correct horse battery');
  expect(stored).toMatch(/^\$argon2id\$v=19\$m=19456,p=1,t=2\$|^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  expect(await passwords.verify(stored, 'correct horse battery')).toBe(true);
  expect(await passwords.verify(stored, 'Correct horse battery')).toBe(false);
});

it('never matches an account without a password', async () => {
  expect(await openPasswordHashing().verify(null, 'no account has this password')).toBe(false);
});

it('notices that parameters have risen', async () => {
  const passwords = openPasswordHashing();
  expect(passwords.isOutdated(await hash('x', { memoryCost: 8_192, timeCost: 1, parallelism: 1 }))).toBe(true);
  expect(passwords.isOutdated(await passwords.hash('x'))).toBe(false);
});

it('serves everybody who waits, in bounded number', async () => {
  const passwords = openPasswordHashing({ slots: 1, queueLimit: 20 });
  const stored = await passwords.hash('correct horse battery');
  const answers = await Promise.allSettled(
    Array.from({ length: 40 }, (_, n) => passwords.verify(stored, n % 2 === 0 ? 'correct horse battery' : 'wrong')),
  );
  const refused = answers.filter((answer) => answer.status === 'rejected');
  expect(refused).toHaveLength(40 - 21);
  expect(refused[0]).toMatchObject({ reason: { kind: 'unavailable' } });
  expect(answers.filter((answer) => answer.status === 'fulfilled').map((answer) => answer.value)).toEqual(
    Array.from({ length: 21 }, (_, n) => n % 2 === 0),
  );
});
