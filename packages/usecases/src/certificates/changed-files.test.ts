import { assert as assertProperty, asyncProperty, constantFrom, nat, record } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CertificateAnalysis } from '@portal/domain/certificates/certificates';
import { certificateSample, certificateSamples } from '@portal/testing/cert-samples';
import { aes256, certificateBag, listBag, lockedKeyBag, makePfx, pbmac1, safe } from '@portal/testing/made-pfx';
import { run } from './analysis-task.ts';

const isLong = process.env['LONG_FORM'] !== undefined;
/** Changes per sample; `pnpm soak certificate-changes` makes 200. */
const changes = isLong ? 200 : 3;

const passwords: Record<string, string> = { generated: 'sample', smallstep: 'mypassword', cfssl: '' };
const lock = aes256('sample');
const made = makePfx(
  [
    safe([listBag(), certificateBag(certificateSample('generated/leaf-rsa.cert.der.cer').bytes)]),
    safe([lockedKeyBag(lock.algorithm, lock.lock(certificateSample('generated/leaf-ec.key.pkcs8.der').bytes))], lock),
  ],
  pbmac1('sample'),
);
const samples = [
  ...certificateSamples()
    // Its 1,800,000 rounds always take longer than a second.
    .filter(({ path }) => !path.includes('firefox'))
    .map(({ path, bytes }) => ({ path, bytes, password: passwords[path.split('/')[0] ?? ''] ?? 'password' })),
  { path: 'a PFX with PBMAC1 and a list of revoked certificates', bytes: made, password: 'sample' },
];

/** A change at one position. */
const change = record({
  kind: constantFrom('byte', 'bit', 'drop', 'insert', 'cut', 'twice', 'zeros'),
  place: nat(1_000_000),
  byte: nat(255),
});

function changed(bytes: Buffer, { kind, place, byte }: { kind: string; place: number; byte: number }): Buffer {
  const at = place % bytes.length;
  const [before, original, after] = [bytes.subarray(0, at), bytes[at] ?? 0, bytes.subarray(at + 1)];
  /** The byte at the position and the `byte` bytes after it. */
  const run = bytes.subarray(at, at + 1 + byte);
  switch (kind) {
    case 'byte':
      return Buffer.concat([before, Buffer.of(byte), after]);
    case 'bit':
      return Buffer.concat([before, Buffer.of(original ^ (1 << (byte % 8))), after]);
    case 'drop':
      return Buffer.concat([before, after]);
    case 'insert':
      return Buffer.concat([before, Buffer.of(byte, original), after]);
    case 'twice':
      return Buffer.concat([before, run, run, bytes.subarray(at + run.length)]);
    case 'zeros':
      return Buffer.concat([before, Buffer.alloc(run.length), bytes.subarray(at + run.length)]);
    default:
      return before;
  }
}

describe.each(samples)('$path, with something changed', ({ bytes, password }) => {
  it('is read within a second, and never lost without a finding', { timeout: 60_000 }, async () => {
    const check = async (edit: Parameters<typeof changed>[1]) => {
      const files = [{ name: 'file', bytes: changed(bytes, edit) }];
      const before = process.threadCpuUsage();
      const json = await run({ files, password });
      const { user, system } = process.threadCpuUsage(before);
      expect((user + system) / 1_000).toBeLessThan(1_000);
      const { parts, locked, rejected, warnings } = CertificateAnalysis.decode(
        JSON.parse(Buffer.from(json).toString()),
      );
      expect(parts.length + locked.length + rejected.length + warnings.length).toBeGreaterThan(0);
    };
    await assertProperty(asyncProperty(change, check), { seed: 7292, numRuns: changes });
  });
});
