import { once } from 'node:events';
import { type AddressInfo, connect } from 'node:net';
import { describe, expect, it } from 'vitest';
import { testApp } from '../../testing/app.ts';

const { app } = await testApp();
// Shorter than in production, so that the suite does not wait.
app.server.headersTimeout = 300;
app.server.requestTimeout = 600;
await app.listen({ port: 0, host: '127.0.0.1' });

/** Sends raw bytes and returns the complete answer until the server closes the connection. */
async function send(...parts: (string | Buffer)[]): Promise<{ status: number; headers: string; body: string }> {
  const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
  let received = '';
  socket.on('data', (chunk) => (received += chunk.toString()));
  socket.on('error', () => undefined);
  for (const part of parts) socket.write(part);
  await once(socket, 'close');
  const [headers = '', body = ''] = received.split('\r\n\r\n', 2);
  return { status: Number(headers.split(' ')[1]), headers, body };
}

describe('an invalid or incomplete HTTP request', () => {
  it.each<[string, (string | Buffer)[], number, string]>([
    ['noise', ['\u0016\u0003\u0001\u0002 hello\r\n\r\n'], 400, 'VALIDATION_FAILED'],
    ['an unknown method', ['FROB / HTTP/1.1\r\nHost: x\r\n\r\n'], 400, 'VALIDATION_FAILED'],
    ['a bad header name', ['GET /health HTTP/1.1\r\nHost: x\r\nB@d Name: 1\r\n\r\n'], 400, 'VALIDATION_FAILED'],
    ['a NUL in a header', ['GET /health HTTP/1.1\r\nHost: x\r\nCookie: a=\0\r\n\r\n'], 400, 'VALIDATION_FAILED'],
    [
      'a bad length',
      ['POST /auth/login HTTP/1.1\r\nHost: x\r\nContent-Length: many\r\n\r\n'],
      400,
      'VALIDATION_FAILED',
    ],
    [
      'a negative length',
      ['POST /auth/login HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n'],
      400,
      'VALIDATION_FAILED',
    ],
    [
      'two lengths',
      ['POST /auth/login HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n{}'],
      400,
      'VALIDATION_FAILED',
    ],
    [
      'a length and chunks',
      ['POST /auth/login HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n'],
      400,
      'VALIDATION_FAILED',
    ],
    [
      'a broken chunk',
      [
        'POST /auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
      ],
      400,
      'VALIDATION_FAILED',
    ],
    ['no Host', ['GET /health HTTP/1.1\r\nConnection: close\r\n\r\n'], 400, 'VALIDATION_FAILED'],
    ['headers without end', [`GET /health HTTP/1.1\r\nHost: x\r\nX: ${'y'.repeat(40_000)}`], 431, 'HEADERS_TOO_LARGE'],
    ['an address without end', [`GET /${'y'.repeat(40_000)}`], 431, 'HEADERS_TOO_LARGE'],
    [
      'an unknown expectation',
      ['GET /health HTTP/1.1\r\nHost: x\r\nExpect: miracles\r\nConnection: close\r\n\r\n'],
      417,
      'EXPECTATION_FAILED',
    ],
    ['headers that stop coming', ['GET /health HTTP/1.1\r\nHost: x\r\n'], 408, 'REQUEST_TIMEOUT'],
    [
      'a body that stops coming',
      [
        'POST /auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{"username":',
      ],
      408,
      'REQUEST_TIMEOUT',
    ],
  ])('%s gets an answer in the error shape', async (_case, parts, statusCode, code) => {
    const answer = await send(...parts);
    expect(answer.status).toBe(statusCode);
    expect(JSON.parse(answer.body)).toMatchObject({
      statusCode,
      code,
      error: expect.any(String),
      message: expect.any(String),
    });
    expect(answer.headers.toLowerCase()).toContain('x-content-type-options: nosniff');
    expect(answer.headers.toLowerCase()).toContain('content-type: application/json; charset=utf-8');
  });
});

it('survives callers that disconnect in the middle', async () => {
  for (const bytes of [
    'G',
    'GET /health HTTP/1.1\r\n',
    'POST /auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 50\r\n\r\n{"us',
  ]) {
    const socket = connect((app.server.address() as AddressInfo).port, '127.0.0.1');
    socket.write(bytes);
    await once(socket, 'connect');
    socket.destroy();
  }
  expect((await send('GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')).status).toBe(200);
});
