import { beforeAll, describe, expect, it } from 'vitest';
import { passwordHashing } from '@portal/usecases/accounts/password-hashing';
import { testApp } from '../../testing/app.ts';

// An attacker guesses passwords from many addresses: a whole IPv6 network, or machines all over the world.

const { request, make, runtime } = await testApp();
const password = 'seven calm otters';
let passwordHash: string;
beforeAll(async () => {
  passwordHash = await passwordHashing(runtime).hash(password);
});

const logIn = (username: string, guess: string, remoteAddress: string) =>
  request({ method: 'POST', url: '/auth/login', payload: { username, password: guess }, remoteAddress });

async function guesses(username: string, addresses: string[]): Promise<number[]> {
  return (await Promise.all(addresses.map((address) => logIn(username, 'a wrong guess', address)))).map(
    ({ statusCode }) => statusCode,
  );
}

describe('guesses from many addresses of one IPv6 network', () => {
  it('count as guesses from one address, for a username', async () => {
    const { username } = await make.user({ passwordHash });
    for (let n = 0; n < 10; n += 1) expect(await guesses(username, [`2001:db8:a:1:${n}::${n}`])).toEqual([401]);
    const refused = await logIn(username, password, '2001:db8:a:1:ffff::1');
    expect(refused.statusCode).toBe(429);
    expect(refused.json()).toMatchObject({ code: 'RATE_LIMITED' });
    expect(Number(refused.headers['retry-after'])).toBeGreaterThan(800);
    expect((await logIn(username, password, '2001:db8:a:2::1')).statusCode).toBe(200);
  });

  it('count as guesses from one address, over many usernames', { timeout: 60_000 }, async () => {
    const answers = await Promise.all(
      Array.from({ length: 70 }, (_, n) => guesses(`unknown-${n}`, [`2001:db8:a:3:${n.toString(16)}::1`])),
    );
    expect(answers.flat().filter((status) => status === 401)).toHaveLength(60);
  });
});

describe('guesses at one username from everywhere', { timeout: 120_000 }, () => {
  it('end after 100, while the owner can still sign in from earlier networks', async () => {
    const { username } = await make.user({ passwordHash });
    expect((await logIn(username, password, '2001:db8:b:1::1')).statusCode).toBe(200);
    expect((await logIn(username, password, '192.0.2.200')).statusCode).toBe(200);

    const statuses: number[] = [];
    for (let round = 0; round < 11; round += 1) {
      statuses.push(
        ...(await guesses(
          username,
          Array.from({ length: 10 }, (_, n) => `203.0.113.${round * 10 + n}`),
        )),
      );
    }
    expect(statuses.filter((status) => status === 401)).toHaveLength(100);
    expect(statuses.slice(0, 100)).not.toContain(429);

    const stranger = await logIn(username, password, '198.51.100.1');
    expect([stranger.statusCode, stranger.json().code]).toEqual([429, 'RATE_LIMITED']);
    expect(Number(stranger.headers['retry-after'])).toBeGreaterThan(0);

    // The network of the first sign-in and the address of the second; a success there does not unlock other addresses.
    expect((await logIn(username, password, '2001:db8:b:1:9:9:9:9')).statusCode).toBe(200);
    expect((await logIn(username, password, '192.0.2.200')).statusCode).toBe(200);
    expect((await logIn(username, password, '198.51.100.2')).statusCode).toBe(429);

    // That address still has its own limit.
    for (let n = 0; n < 10; n += 1) expect(await guesses(username, ['192.0.2.200'])).toEqual([401]);
    expect((await logIn(username, password, '192.0.2.200')).statusCode).toBe(429);
  });

  it('end in the same way for an unknown username', async () => {
    const addresses = Array.from({ length: 105 }, (_, n) => `203.0.113.${n}`);
    const statuses = await guesses('unknown-name', addresses);
    expect(statuses.filter((status) => status === 401)).toHaveLength(100);
    expect(await guesses('unknown-name', ['198.51.100.3'])).toEqual([429]);
  });
});
