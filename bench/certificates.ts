// The 50 largest certificate samples in one request against the bare libraries in one thread, and a single PEM against an empty upload
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { join } from 'node:path';
import 'reflect-metadata';
import { Pkcs10CertificateRequest, X509Certificates } from '@peculiar/x509';
import forge from 'node-forge';
import { openDatabase } from '@portal/db/open';
import { CertificateAnalysis } from '@portal/domain/certificates/certificates';
import { readConfig } from '@portal/platform/config';
import { type CertificateSample, certificateSample, certificateSamples } from '@portal/testing/cert-samples';
import { hostileCertificates } from '@portal/testing/hostile-certificates';
import { builders } from '@portal/testing/make';
import { openSessionTokens } from '@portal/usecases/accounts/session-token';
import {
  alternate,
  benchDatabase,
  benchSettings,
  median,
  memoryMb,
  percentile,
  report,
  startServer,
  stopAll,
} from './measure.ts';

const rounds = 5;
const singles = 100;

const large = certificateSamples()
  .toSorted((a, b) => b.bytes.length - a.bytes.length)
  .slice(0, 50);
const firefox = 'firefox';
const withoutSlow = large.filter(({ name }) => !name.includes(firefox));

/** What the libraries take for what is in a file, and nothing else. */
function parseBare({ name, bytes }: CertificateSample, password: string): void {
  const text = bytes.toString('latin1');
  if (/\.(pfx|p12)$/.test(name)) {
    const opened = forge.asn1.fromDer(text, false);
    for (const tried of [password, '']) {
      try {
        forge.pkcs12.pkcs12FromAsn1(opened, false, tried);
        return;
      } catch {
        // the next password, as we try it
      }
    }
    return;
  }
  const blocks = text.match(/-----BEGIN ([A-Z0-9 ]+)-----[^]*?-----END \1-----/g);
  for (const block of blocks ?? [bytes]) parseOne(name, block, password);
}

function parseOne(name: string, block: string | Buffer, password: string): void {
  const kind = typeof block === 'string' ? block.slice(11, block.indexOf('-', 11)) : name;
  try {
    if (/PKCS7|p7b/.test(kind)) new X509Certificates(block);
    else if (/REQUEST|csr/.test(kind)) new Pkcs10CertificateRequest(block);
    else if (/CERTIFICATE|cer$/.test(kind)) new X509Certificate(block);
    else if (typeof block === 'string') createPrivateKey({ key: block, passphrase: password });
    else createPrivateKey({ key: block, format: 'der', type: keyTypeOf(kind) });
  } catch {
    // one of the files that hold no such thing
  }
}
const keyTypeOf = (name: string) => (/(pkcs1|sec1)/.exec(name)?.[1] as 'pkcs1' | 'sec1' | undefined) ?? 'pkcs8';

const timed = async (work: () => unknown): Promise<number> => {
  const startedAt = performance.now();
  await work();
  return performance.now() - startedAt;
};

try {
  const { url, folder } = await benchDatabase();
  const settings = benchSettings(url, join(folder, 'data'));
  const database = openDatabase({ url, poolMax: 2, applicationName: 'bench' });
  const make = builders(database);
  const tokens = openSessionTokens(readConfig(settings).sessionKeys);
  /** Of accounts that each ask no more often than they may. */
  const cookies: string[] = [];
  for (let n = 0; n < 30; n += 1) {
    const user = await make.user({ role: 'ADMIN' });
    const session = await make.session(user);
    const token = tokens.issue({ sub: user.id, tid: user.tenantId, sid: session.id, ver: 1 });
    cookies.push(`portal_session=${token}`);
  }
  await database.close();
  const api = await startServer('apps/api/src/main.ts', settings, join(folder, 'api.log'));

  let asked = 0;
  async function send(files: CertificateSample[], password?: string): Promise<{ status: number; text: string }> {
    const form = new FormData();
    for (const { name, bytes } of files) form.append('files', new Blob([Uint8Array.from(bytes)]), name);
    if (password !== undefined) form.append('password', password);
    asked += 1;
    const answer = await fetch(`${api.url}/certificates/analyze`, {
      method: 'POST',
      headers: { cookie: cookies[asked % cookies.length] ?? '' },
      body: form,
    });
    return { status: answer.status, text: await answer.text() };
  }
  async function analyze(files: CertificateSample[], password: string): Promise<void> {
    const { status, text } = await send(files, password);
    if (status !== 200) throw new Error(text);
    const { parts, rejected } = CertificateAnalysis.decode(JSON.parse(text));
    if (parts.length < 10 || rejected.some(({ reason }) => reason === 'TOO_LARGE')) throw new Error(text.slice(-500));
  }

  // How long the API keeps a caller waiting who asks for nothing is how long its event loop stands still.
  const waits: number[] = [];
  let isOver = false;
  const watch = async () => {
    while (!isOver) {
      waits.push(await timed(() => fetch(`${api.url}/health`).then((answer) => answer.text())));
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };

  /** How long the API's event loop stood still since it was last asked, by its own figures: the 99th percentile and the longest, in ms. */
  async function loopDelay(): Promise<{ p99: number; longest: number }> {
    const text = await fetch(`${api.url}/metrics`).then((answer) => answer.text());
    const [p99, longest] = ['p99', 'max'].map(
      (which) =>
        Number(new RegExp(`^nodejs_eventloop_lag_${which}_seconds(?:{.*})? (.*)$`, 'm').exec(text)?.[1]) * 1_000,
    );
    return { p99: p99 ?? NaN, longest: longest ?? NaN };
  }

  for (const [what, files, password] of [
    ['the 50 largest samples', large, 'password'],
    ['those without the one of Firefox', withoutSlow, 'sample'],
  ] as const) {
    await analyze(files, password);
    for (const file of files) parseBare(file, password);
    isOver = false;
    await loopDelay();
    const watching = watch();
    const ours: number[] = [];
    for (let n = 0; n < rounds; n += 1) ours.push(await timed(() => analyze(files, password)));
    isOver = true;
    await watching;
    const { p99, longest } = await loopDelay();
    console.log(`${what}: event loop p99 ${p99.toFixed(1)} ms (at most 50), longest ${longest.toFixed(1)} ms`);
    const bare: number[] = [];
    for (let n = 0; n < rounds; n += 1)
      bare.push(await timed(() => files.forEach((file) => parseBare(file, password))));
    report(what, { ours: median(ours), limit: median(bare), unit: 'ms', goal: 'at most 2.0' });
  }
  console.log(`what the API kept others waiting, p99: ${percentile(waits, 0.99).toFixed(1)} ms (at most 50)`);

  const before = await memoryMb(api.child.pid);
  let peak = before;
  const timer = setInterval(() => void memoryMb(api.child.pid).then((now) => (peak = Math.max(peak, now))), 20);
  await loopDelay();
  for (const [name, make] of hostileCertificates) {
    const { status, text } = await send(make().map((bytes, n) => ({ name: `file-${n}`, path: '', bytes })));
    if (![200, 400, 413].includes(status)) throw new Error(`${name}: ${status} ${text.slice(0, 200)}`);
  }
  clearInterval(timer);
  const { p99, longest } = await loopDelay();
  console.log(
    `${hostileCertificates.length} hostile uploads: event loop p99 ${p99.toFixed(1)} ms (at most 50), longest ${longest.toFixed(1)} ms, ` +
      `memory ${(peak - before).toFixed(0)} MB more (at most 64)`,
  );

  const pem = certificateSample('generated/leaf-rsa.cert.pem');
  const single = () => timed(() => send([pem]));
  const empty = () => timed(() => send([]));
  await alternate(20, { single, empty });
  const times = await alternate(singles, { single, empty });
  report('a single PEM against an empty upload, p95', {
    ours: percentile(times.single, 0.95),
    limit: percentile(times.empty, 0.95),
    unit: 'ms',
    goal: 'at most 3',
  });
} finally {
  await stopAll();
}
