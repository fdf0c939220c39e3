import { hash } from '@node-rs/argon2';
import { expect, it } from 'vitest';
import { openPasswordHashing, type PasswordHashing } from './password-hashing.ts';

it('hashes with argon2id at 19 MiB, two passes, one lane', async () => {
  const passwords = openPasswordHashing();
  const stored = await passwords.hash('correct horse battery');
  expect(stored).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
  expect(await passwords.verify(stored, 'correct horse battery')).toBe(true);
  expect(await passwords.verify(stored, 'Correct horse battery')).toBe(false);
});

it('still verifies hashes of the previous library, which wrote parameters in another order', async () => {
  const passwords = openPasswordHashing();
  const stored = '$argon2id$v=19$m=19456,p=1,t=2$WImmSubKeqCnnRtQ8EPC6A$r+ci0kyAixJu2zt3JVUFhNdgiVnohEpQBdEjcrbHh0A';
  expect(await passwords.verify(stored, 'x')).toBe(true);
  expect(await passwords.verify(stored, 'y')).toBe(false);
  expect(passwords.isOutdated(stored)).toBe(false);
});

it('never matches an account without a password', async () => {
  expect(await openPasswordHashing().verify(null, 'no account has this password')).toBe(false);
});

it('detects weaker parameters', async () => {
  const passwords = openPasswordHashing();
  expect(passwords.isOutdated(await hash('x', { memoryCost: 8_192, timeCost: 1, parallelism: 1 }))).toBe(true);
  expect(passwords.isOutdated(await passwords.hash('x'))).toBe(false);
});

it('serves all waiting callers, up to a limit', async () => {
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

it.each<[string, (passwords: PasswordHashing, stored: string) => Promise<unknown>]>([
  ['verified', (passwords, stored) => passwords.verify(stored, 'x')],
  ['made', (passwords) => passwords.hash('x')],
])(
  'lets look-ups through at once while a slot is near, else together when few hashes are still to be %s',
  async (_, work) => {
    const passwords = openPasswordHashing({ slots: 1 });
    const stored = await passwords.hash('x');
    const events: string[] = [];
    const verify = (name: string) => work(passwords, stored).then(() => events.push(name));
    const coalesce = (name: string) => passwords.coalesce().then(() => events.push(name));

    await coalesce('idle');
    const running = verify('first');
    await coalesce('one runs');
    const waiting = verify('second');
    const coalesced = [coalesce('a'), coalesce('b')];
    await new Promise((resolve) => setImmediate(resolve));
    expect(events).toEqual(['idle', 'one runs']);
    await Promise.all([running, waiting, ...coalesced]);
    expect(events.slice(2, -1).toSorted()).toEqual(['a', 'b', 'first']);
    expect(events.at(-1)).toBe('second');
  },
);

it('delays lookups only briefly', async () => {
  const passwords = openPasswordHashing({ slots: 1 });
  const hashes = Array.from({ length: 40 }, () => passwords.hash('x'));
  const from = performance.now();
  let done = 0;
  for (const hash of hashes) void hash.then(() => (done += 1));
  await passwords.coalesce();
  expect(performance.now() - from).toBeGreaterThan(150);
  expect(done).toBeLessThan(40);
  await Promise.all(hashes);
});
