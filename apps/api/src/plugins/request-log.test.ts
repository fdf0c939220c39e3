import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { describe, expect, it, vi } from 'vitest';
import { open, signedIn } from '@portal/domain/access';
import { testApp } from '../../testing/app.ts';

let release = (): void => undefined;

const { app, request, make, logLines, runtime } = await testApp({
  routes: (routed) => {
    routed.get('/mine/:id', { config: { access: signedIn } }, () => Promise.resolve({ done: true }));
    routed.get('/slow', { config: { access: open('a test calls it') } }, async () => {
      await new Promise<void>((resolve) => {
        release = resolve;
      });
      return { done: true };
    });
  },
});

const linesOf = (requestId: unknown) => logLines.filter((line) => line['requestId'] === requestId);

describe('the log', () => {
  it('has one line per request, with caller, route and status', async () => {
    const user = await make.user();
    const { headers } = await request({ url: '/mine/7?token=secret', as: user, remoteAddress: '192.0.2.7' });
    expect(linesOf(headers['x-request-id'])).toEqual([
      {
        level: 'info',
        time: expect.any(String),
        name: 'api',
        msg: 'request',
        requestId: headers['x-request-id'],
        method: 'GET',
        route: '/mine/:id',
        status: 200,
        ms: expect.any(Number),
        tenantId: user.tenantId,
        actorId: user.id,
        ip: '192.0.2.7',
      },
    ]);
  });

  it('has one line for a refused request, at level info', async () => {
    for (const [url, status, route] of [
      ['/mine/7', 401, '/mine/:id'],
      ['/nowhere', 404, null],
      ['/%E0%A4%A', 400, null],
    ] as const) {
      const { headers } = await request({ url });
      expect(linesOf(headers['x-request-id'])).toEqual([expect.objectContaining({ level: 'info', status, route })]);
    }
  });

  it('shows status 499 if the caller disconnects before the answer', async () => {
    await app.listen({ port: 0, host: '127.0.0.1' });
    const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
    socket.write('GET /slow HTTP/1.1\r\nHost: x\r\n\r\n');
    await once(app.server, 'request');
    socket.destroy();
    await vi.waitFor(
      () => expect(logLines).toContainEqual(expect.objectContaining({ route: '/slow', status: 499, ip: '127.0.0.1' })),
      20_000,
    );
    release();
  });
});

it('counts requests by method, route pattern and status', async () => {
  await request({ url: '/nowhere/at/all' });
  await request({ url: '/mine/8', as: await make.user() });
  const { body } = await runtime.metrics.render();
  expect(body).toMatch(/portal_http_request_seconds_count\{.*method="GET",route="\/mine\/:id",status="200"/);
  expect(body).toMatch(/portal_http_request_seconds_count\{.*method="GET",route="unknown",status="404"/);
  expect(body).not.toContain('/mine/8');
});
