import { describe, expect, it } from 'vitest';
import { open } from '@portal/domain/access';
import { testApp } from '../../testing/app.ts';
import type { App } from '../zod-app.ts';

const routes = (app: App) =>
  void app.get('/whoami', { config: { access: open('a test reads it') } }, (request, reply) => {
    reply.send({ ip: request.system.ip, id: request.system.requestId });
  });

const direct = await testApp({ routes });
const behindOne = await testApp({ routes, env: { TRUST_PROXY: '1' } });
const behindNetwork = await testApp({ routes, env: { TRUST_PROXY: '10.0.0.0/8, fd00::/8' } });

const ask = async ({ request }: typeof direct, remoteAddress: string, headers: Record<string, string>) =>
  (await request({ url: '/whoami', remoteAddress, headers })).json<{ ip: string; id: string }>();

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-7/;

describe('the caller’s address', () => {
  it('is the peer’s if no proxy is trusted, regardless of headers', async () => {
    expect(await ask(direct, '192.0.2.7', { 'x-forwarded-for': '203.0.113.9' })).toMatchObject({ ip: '192.0.2.7' });
  });

  it('is the one that the trusted proxy reports', async () => {
    expect(await ask(behindOne, '10.1.2.3', { 'x-forwarded-for': '198.51.100.1, 203.0.113.9' })).toMatchObject({
      ip: '203.0.113.9',
    });
  });

  it('is the one that proxies of trusted networks report, and only those', async () => {
    expect(await ask(behindNetwork, '10.1.2.3', { 'x-forwarded-for': '203.0.113.9, 10.9.9.9' })).toMatchObject({
      ip: '203.0.113.9',
    });
    expect(await ask(behindNetwork, '::ffff:10.1.2.3', { 'x-forwarded-for': '203.0.113.9' })).toMatchObject({
      ip: '203.0.113.9',
    });
    expect(await ask(behindNetwork, 'fd00::1', { 'x-forwarded-for': '2001:db8::9' })).toMatchObject({
      ip: '2001:db8::9',
    });
    expect(await ask(behindNetwork, '192.0.2.7', { 'x-forwarded-for': '203.0.113.9' })).toMatchObject({
      ip: '192.0.2.7',
    });
  });

  it('is never an invalid address', async () => {
    expect(await ask(behindOne, '10.1.2.3', { 'x-forwarded-for': 'unknown' })).toMatchObject({ ip: '10.1.2.3' });
    expect(await ask(behindNetwork, '10.1.2.3', { 'x-forwarded-for': '<script>' })).toMatchObject({ ip: '10.1.2.3' });
  });

  it('shows IPv4-mapped addresses as IPv4', async () => {
    expect(await ask(direct, '::ffff:192.0.2.7', {})).toMatchObject({ ip: '192.0.2.7' });
    expect(await ask(direct, '2001:db8::7', {})).toMatchObject({ ip: '2001:db8::7' });
  });
});

describe('the request id', () => {
  it('is our own unless a trusted proxy sent a safe one', async () => {
    const headers = { 'x-request-id': 'edge-0123456789' };
    expect((await ask(direct, '10.1.2.3', headers)).id).toMatch(uuid);
    expect((await ask(behindNetwork, '192.0.2.7', headers)).id).toMatch(uuid);
    expect((await ask(behindNetwork, '10.1.2.3', headers)).id).toBe('edge-0123456789');
    expect((await ask(behindOne, '10.1.2.3', headers)).id).toBe('edge-0123456789');
    expect((await ask(behindOne, '10.1.2.3', { 'x-request-id': 'short' })).id).toMatch(uuid);
    expect((await ask(behindOne, '10.1.2.3', { 'x-request-id': 'with space 0123' })).id).toMatch(uuid);
    expect((await ask(behindOne, '10.1.2.3', { 'x-request-id': 'x'.repeat(200) })).id).toMatch(uuid);
  });

  it('is in every answer, errors included', async () => {
    for (const url of ['/whoami', '/nowhere', '/%E0%A4%A']) {
      expect((await direct.request({ url })).headers['x-request-id']).toMatch(uuid);
    }
  });
});
