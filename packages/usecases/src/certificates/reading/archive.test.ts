import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { certificateSample } from '@portal/testing/cert-samples';
import { type ZipEntry, zipOf } from '@portal/testing/zip';
import { Deadline } from './deadline.ts';
import { readFiles } from './read-files.ts';

const leaf = certificateSample('generated/leaf-rsa.cert.pem').bytes;
const key = certificateSample('generated/leaf-rsa.key.pem').bytes;
const readZip = (bytes: Buffer, ...others: { name: string; bytes: Uint8Array }[]) =>
  readFiles([{ name: 'all.zip', bytes }, ...others], undefined, new Deadline(60_000));

async function rejectedOf(...entries: ZipEntry[]) {
  const { parts, rejected } = await readZip(zipOf([...entries, { name: 'good.pem', bytes: leaf }]));
  return { parts: parts.size, rejected: rejected.map(({ file, reason }) => `${file}: ${reason}`) };
}

describe('an archive', () => {
  it('is read as a folder of files, without entries that operating systems add', async () => {
    const archive = zipOf([
      { name: 'certs/', bytes: Buffer.alloc(0) },
      { name: 'certs/leaf.pem', bytes: leaf },
      { name: 'Schlüssel.key', bytes: key },
      { name: '__MACOSX/._leaf.pem', bytes: Buffer.from('x') },
      { name: 'certs/.DS_Store', bytes: Buffer.from('x') },
    ]);
    const single = await readZip(archive);
    expect([...single.parts.values()].map(({ files }) => [...files])).toEqual([['certs/leaf.pem'], ['Schlüssel.key']]);
    expect(single.rejected).toEqual([]);
    const withOthers = await readZip(archive, { name: 'leaf.pem', bytes: leaf });
    expect([...withOthers.parts.values()].map(({ files }) => [...files])).toEqual([
      ['all.zip/certs/leaf.pem', 'leaf.pem'],
      ['all.zip/Schlüssel.key'],
    ]);
  });

  it('may be empty', async () => {
    expect((await readZip(zipOf([]))).parts.size).toBe(0);
  });

  it.each<[string, ZipEntry, string]>([
    ['another archive', { name: 'in.zip', bytes: zipOf([{ name: 'a', bytes: leaf }]) }, 'in.zip: NESTED_ARCHIVE'],
    ['a file that is too large', { name: 'big', bytes: randomBytes(1_048_577) }, 'big: TOO_LARGE'],
    ['a path out of the archive', { name: '../../up.pem', bytes: key }, '../../up.pem: DAMAGED'],
    ['an absolute path', { name: '/etc/x.pem', bytes: key }, '/etc/x.pem: DAMAGED'],
    ['an encrypted file', { name: 'locked', bytes: key, says: { flags: 1 } }, 'locked: UNSUPPORTED'],
    ['a false size', { name: 'lie', bytes: key, says: { size: 10 }, localSize: 10 }, 'lie: DAMAGED'],
    ['two different sizes', { name: 'lie', bytes: key, localSize: 10 }, 'lie: DAMAGED'],
    ['a wrong checksum', { name: 'bent', bytes: key, says: { crc: 7 } }, 'bent: DAMAGED'],
  ])('with %s returns the other files', async (_what, entry, expected) => {
    expect(await rejectedOf(entry)).toEqual({ parts: 1, rejected: [expected] });
  });

  it.each<[string, Buffer]>([
    ['201 files', zipOf(Array.from({ length: 201 }, (_, n) => ({ name: `${n}`, bytes: leaf })))],
    ['a false file count', zipOf([{ name: 'a', bytes: leaf }], { entryCount: 65_534 })],
    ['a million files', zipOf([{ name: 'a', bytes: leaf }], { entryCount: 1_000_000 })],
    ['highly compressed zeros', zipOf([{ name: 'a', bytes: Buffer.alloc(1_000_000) }])],
    ['more than 20 MiB', zipOf([{ name: 'a', bytes: leaf, says: { size: 21 * 1_048_576 } }])],
  ])('with %s is refused as a whole', async (_what, bytes) => {
    await expect(readZip(bytes)).rejects.toMatchObject({ name: 'PortalError', code: 'ARCHIVE_TOO_LARGE' });
  });

  it.each<[string, Buffer]>([
    [
      'whose files overlap',
      zipOf([
        { name: 'a', bytes: leaf },
        { name: 'b', bytes: leaf, says: { offset: 5 } },
      ]),
    ],
    ['that is truncated', zipOf([{ name: 'a', bytes: leaf }]).subarray(0, 500)],
    ['with fewer files than stated', zipOf([{ name: 'a', bytes: leaf }], { entryCount: 5 })],
  ])('%s is rejected', async (_what, bytes) => {
    const { rejected } = await readZip(bytes);
    expect(rejected).toEqual([{ file: 'all.zip', reason: 'DAMAGED', hint: expect.any(String) }]);
  });
});
