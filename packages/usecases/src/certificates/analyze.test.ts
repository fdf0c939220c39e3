import { describe, expect, it, onTestFinished } from 'vitest';
import { CertificateAnalysis } from '@portal/domain/certificates/certificates';
import { openSandbox } from '@portal/platform/sandbox/open-sandbox';
import { certificateSample } from '@portal/testing/cert-samples';
import { childProcesses } from '@portal/testing/child-processes';
import { cpuSecOf } from '@portal/testing/processor-time';
import { testRuntime } from '@portal/testing/runtime';
import { the } from '@portal/testing/the';
import { analyzeCertificates } from './analyze.ts';

const { make, signedIn } = await testRuntime();
const leaf = certificateSample('generated/leaf-rsa.cert.pem');
const slow = certificateSample('rustcrypto/ValidCertificatePathTest1EE_firefox.p12');

async function open() {
  const sandbox = openSandbox({ processes: 1 });
  onTestFinished(() => sandbox.close());
  const ctx = { ...(await signedIn(await make.user())), sandbox, resources: new Map() };
  return async (files: { name: string; bytes: Buffer }[]) =>
    CertificateAnalysis.decode(
      JSON.parse(Buffer.from(await analyzeCertificates(ctx, { files, password: 'password' })).toString()),
    );
}

describe.runIf(process.platform === 'linux')('the sandbox process', () => {
  it('answers 503 if it is killed, and the next one works', async () => {
    const analyze = await open();
    const before = childProcesses();
    const answer = analyze([leaf, slow]).catch((error: unknown) => error);
    await expect.poll(() => childProcesses().length).toBe(before.length + 1);
    for (const pid of childProcesses()) if (!before.includes(pid)) process.kill(pid, 'SIGKILL');
    expect(await answer).toMatchObject({ kind: 'unavailable', retryAfterSec: 5 });
    expect((await analyze([leaf])).parts).toHaveLength(1);
  });

  it('is stopped if it never ends, and its files are rejected', async () => {
    const analyze = await open();
    const before = childProcesses();
    await analyze([leaf]);
    const pid = the(childProcesses().find((child) => !before.includes(child)));
    const usedSec = cpuSecOf(pid);
    const answer = analyze([leaf, slow]);
    await expect.poll(() => cpuSecOf(pid)).toBeGreaterThan(usedSec + 0.1);
    process.kill(pid, 'SIGSTOP');
    expect(await answer).toMatchObject({
      parts: [],
      rejected: [leaf, slow].map(({ name }) => ({ file: name, reason: 'TOO_LARGE' })),
    });
    expect((await analyze([leaf])).parts).toHaveLength(1);
  });
});
