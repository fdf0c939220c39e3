import { afterEach, describe, expect, it } from 'vitest';
import {
  brokenCloud,
  type CloudAnswer,
  type CloudServer,
  startCloudServer,
  statusDocument,
} from '@portal/testing/servers/cloud-server';
import { caCertificatePem, type ServerCertificate } from '@portal/testing/servers/tls';
import type { AddressPolicy } from '../http/checked-address.ts';
import { readCloud } from './read-cloud.ts';

const policy: AddressPolicy = { reach: 'private', allowHosts: [] };
const never = new AbortController().signal;

const servers: CloudServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop();
});

async function cloud(answer: CloudServer['answer'] = () => statusDocument(), certificate?: ServerCertificate) {
  const server = await startCloudServer(certificate === undefined ? {} : { certificate });
  server.answer = answer;
  servers.push(server);
  return server;
}

const redirect = (location: string): CloudAnswer => ({ status: 302, headers: { location }, body: '' });
const html = (status: number): CloudAnswer => ({
  status,
  headers: { 'content-type': 'text/html' },
  body: '<!doctype html><form>',
});
function* megabytes(count: number) {
  for (let n = 0; n < count; n += 1) yield Buffer.alloc(1024 * 1024, 32);
}

describe('a cloud', () => {
  it('is read in any folder and at any of its addresses', async () => {
    const { origin, requests } = await cloud((_folder, path) =>
      path.endsWith('/status.php') ? statusDocument() : html(200),
    );
    for (const address of ['', '/', '/login', '/index.php/login', '/status.php'])
      expect(await readCloud(origin + address, policy, never)).toMatchObject({ isReached: true });
    expect(requests('')).toBe(5);
    expect(await readCloud(`${origin}/a/b/`, policy, never)).toMatchObject({ isReached: true, message: null });
    expect(requests('a/b')).toBe(1);
  });

  it.each<[string, CloudAnswer]>([
    ['in maintenance', statusDocument({ maintenance: true })],
    ['in maintenance behind a proxy', { status: 503, ...statusDocument({ maintenance: true }) }],
  ])('is reached %s', async (_what, answer) => {
    const { origin } = await cloud(() => answer);
    expect(await readCloud(origin, policy, never)).toMatchObject({ isReached: true, isMaintenance: true });
  });

  it('is reached through three redirects on its host, and the answer names the final address', async () => {
    const { origin } = await cloud((folder) =>
      folder === '3' ? statusDocument() : redirect(`/${Number(folder) + 1}/status.php`),
    );
    expect(await readCloud(origin, policy, never)).toMatchObject({
      isReached: true,
      message: `The address redirects to ${origin}/3/status.php.`,
    });
  });

  it.each<[string, string, (path: string, origin: string) => CloudAnswer]>([
    ['a fourth redirect', 'antwortform', (path) => redirect(`${path}/x`)],
    ['a loop', 'antwortform', () => redirect('/status.php')],
    ['a redirect to a login page', 'antwortform', () => redirect('/index.php/login')],
    [
      'a redirect to another site',
      'antwortform',
      (_path, origin) => redirect(origin.replace('127.0.0.1', 'localhost')),
    ],
    ['a redirect to nowhere', 'antwortform', () => redirect('http://')],
    ['a page', 'antwortform', () => html(200)],
    ['a page of 404', 'antwortform', () => html(404)],
    ['a page of 503', 'server', () => brokenCloud],
    ['a page of 401', 'zugang', () => html(401)],
    ['a page of 403', 'rechte', () => html(403)],
    [
      'an unknown host name',
      'antwortform',
      () => ({ status: 400, body: '{"error":"Trusted domain error.","code":15}' }),
    ],
    ['an empty installation', 'antwortform', () => statusDocument({ installed: false })],
    ['null', 'antwortform', () => ({ body: 'null' })],
    ['a list', 'antwortform', () => ({ body: '[]' })],
    ['more than 64 KiB', 'antwortform', () => statusDocument({ filler: 'x'.repeat(64 * 1024) })],
    ['40 MB', 'antwortform', () => ({ body: megabytes(40) })],
    ['40 MB of an error', 'antwortform', () => ({ status: 500, body: megabytes(40) })],
    ['an unknown encoding', 'antwortform', () => ({ headers: { 'content-encoding': 'zzz' }, body: '{}' })],
    ['40,000 bytes of headers', 'antwortform', () => ({ headers: { 'x-a': 'a'.repeat(40_000) }, body: '{}' })],
    ['a reset', 'netz', () => 'reset'],
  ])('fails when it answers with %s: %s', async (_what, failure, answer) => {
    const { origin } = await cloud((_folder, path) => answer(path, origin));
    expect(await readCloud(origin, policy, never)).toMatchObject({ isReached: false, failure });
  });

  it('is not followed to another site', async () => {
    const other = await cloud();
    const { origin } = await cloud(() => redirect(other.origin.replace('127.0.0.1', 'localhost')));
    await readCloud(origin, policy, never);
    expect(other.requests()).toBe(0);
  });

  it('is read up to 64 KiB', async () => {
    const { body } = statusDocument();
    const { origin } = await cloud(() => ({ body: body.padEnd(64 * 1024) }));
    expect(await readCloud(origin, policy, never)).toMatchObject({ isReached: true });
  });

  it('fails after ten seconds of silence, and when its port is closed', { timeout: 30_000 }, async () => {
    const silent = await cloud(() => 'silence');
    const gone = await cloud();
    await gone.stop();
    const startedAt = performance.now();
    expect(await readCloud(silent.origin, policy, never)).toMatchObject({ failure: 'netz' });
    expect(Math.round((performance.now() - startedAt) / 1_000)).toBe(10);
    expect(await readCloud(gone.origin, policy, never)).toMatchObject({
      failure: 'netz',
      message: `127.0.0.1:${gone.port} refuses connections on this port.`,
    });
  });

  it('must show a valid certificate', async () => {
    const trust = { caCertificatePem, skipTlsVerify: false };
    const read = async (certificate: ServerCertificate, host = 'localhost') => {
      const { port } = await cloud(undefined, certificate);
      return readCloud(`https://${host}:${port}`, { ...policy, trust }, never);
    };
    expect(await read('localhost')).toMatchObject({ isReached: true });
    for (const certificate of ['elsewhere', 'expired', 'self-signed'] as const)
      expect(await read(certificate)).toMatchObject({ failure: 'zertifikat' });
    const { port } = await cloud();
    expect(await readCloud(`https://127.0.0.1:${port}`, policy, never)).toMatchObject({
      failure: 'netz',
      message: `127.0.0.1:${port} does not speak TLS on this port.`,
    });
  });

  it('is not followed from https to http', async () => {
    const plain = await cloud();
    const { port } = await cloud(() => redirect(`http://localhost:${plain.port}/status.php`), 'localhost');
    const trust = { caCertificatePem, skipTlsVerify: false };
    expect(await readCloud(`https://localhost:${port}`, { ...policy, trust }, never)).toMatchObject({
      failure: 'antwortform',
    });
    expect(plain.requests()).toBe(0);
  });

  it('is not called at a forbidden address', async () => {
    const { origin, requests } = await cloud();
    expect(await readCloud(origin, { reach: 'public', allowHosts: [] }, never)).toMatchObject({ failure: 'netz' });
    expect(await readCloud('http://169.254.169.254', policy, never)).toMatchObject({ failure: 'netz' });
    expect(requests()).toBe(0);
  });

  it('is no longer read once the signal is aborted', async () => {
    const { origin } = await cloud(() => 'silence');
    const stop = new AbortController();
    const reading = readCloud(origin, policy, stop.signal);
    stop.abort(new Error('enough'));
    await expect(reading).rejects.toThrow('enough');
  });
});
