import { createCipheriv, generateKeyPairSync, pbkdf2Sync, randomBytes } from 'node:crypto';
import { certificateSample } from './cert-samples.ts';
import { element, sequence } from './der.ts';
import { zipOf } from './zip.ts';

const sample = (name: string) => certificateSample(`generated/${name}`).bytes;
const leaf = sample('leaf-rsa.cert.pem');

const number = (hex: string) => element(0x02, Buffer.from(hex, 'hex'));
/** A PKCS#1 key with numbers of `bytes` bytes. */
const rsaKeyOf = (bytes: number) => {
  const odd = `00${randomBytes(bytes).toString('hex')}01`;
  return sequence(number('00'), number(odd), number('010001'), ...Array.from({ length: 6 }, () => number(odd)));
};
/** DER of nested sequences. */
export function nested(depth: number): Buffer {
  let inner: Buffer = Buffer.alloc(0);
  for (let n = 0; n < depth; n += 1) inner = sequence(inner);
  return inner;
}
/** Replaces the last number of a PFX, the hash rounds of its MAC. */
export function withRounds(pfx: Buffer, rounds: number): Buffer {
  const changed = Buffer.from(pfx);
  // Begins with 30 82 … and ends with 02 02 08 00: a number of four bytes replaces one of two.
  const number = Buffer.alloc(6);
  number.writeUInt16BE(0x0204);
  number.writeUInt32BE(rounds, 2);
  const longer = Buffer.concat([changed.subarray(0, -4), number]);
  longer.writeUInt16BE(longer.readUInt16BE(2) + 2, 2);
  const mac = longer.length - number.length - 2 - 8 - 2;
  for (let at = mac; at > 0; at -= 1) {
    if (longer[at] === 0x30 && at + 2 + (longer[at + 1] ?? 0) + 2 === longer.length) {
      longer[at + 1] = (longer[at + 1] ?? 0) + 2;
      return longer;
    }
  }
  throw new Error('The sample has an unexpected form.');
}

/** Keys encrypted with the password `sample`, each with nearly the maximum number of rounds. */
export function slowKeys(count: number): Buffer[] {
  const rounds = 999_999;
  const [salt, iv] = [randomBytes(16), randomBytes(16)];
  const secret = pbkdf2Sync('sample', salt, rounds, 32, 'sha256');
  const bytes = (content: Buffer) => element(0x04, content);
  const oid = (hex: string) => element(0x06, Buffer.from(hex, 'hex'));
  const hmacWithSha256 = sequence(oid('2a864886f70d0209'), element(0x05));
  const derivation = sequence(
    oid('2a864886f70d01050c'),
    sequence(bytes(salt), number(rounds.toString(16).padStart(6, '0')), hmacWithSha256),
  );
  const aes256 = sequence(oid('60864801650304012a'), bytes(iv));
  return Array.from({ length: count }, () => {
    const key = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'der' });
    const cipher = createCipheriv('aes-256-cbc', secret, iv);
    const lockedKey = bytes(Buffer.concat([cipher.update(key), cipher.final()]));
    const der = sequence(sequence(oid('2a864886f70d01050d'), sequence(derivation, aes256)), lockedKey);
    const label = 'ENCRYPTED PRIVATE KEY';
    return Buffer.from(`-----BEGIN ${label}-----\n${der.toString('base64')}\n-----END ${label}-----\n`);
  });
}

/** 16 archives of 16 archives and so on, as in the well-known 42.zip, over `levels` levels. */
const archivesIn = (levels: number): Buffer => {
  const bytes = levels === 0 ? Buffer.alloc(50_000) : archivesIn(levels - 1);
  return zipOf(Array.from({ length: 16 }, (_, n) => ({ name: levels === 0 ? `${n}.dll` : `lib ${n}.zip`, bytes })));
};

/** Uploads that the product must refuse or reject, each created on demand. */
export const hostileCertificates: [string, () => Buffer[]][] = [
  ['20 MB of random bytes', () => [randomBytes(20_000_000)]],
  ['a MB of random bytes, nine times', () => Array.from({ length: 9 }, () => randomBytes(1_000_000))],
  [
    'random bytes that begin as DER does',
    () => [Buffer.concat([Buffer.from('308400fffff0', 'hex'), randomBytes(1_000_000)])],
  ],
  ['100,000 blocks of PEM', () => [Buffer.from('-----BEGIN X-----'.repeat(60_000))]],
  [
    '100,000 blocks of PEM in ten files',
    () =>
      Array.from({ length: 10 }, () =>
        Buffer.from('-----BEGIN CERTIFICATE-----\nMAA=\n-----END CERTIFICATE-----\n'.repeat(10_000)),
      ),
  ],
  ['ASN.1 10,000 deep', () => [nested(10_000)]],
  ['ASN.1 10,000 deep in a PFX', () => [sequence(number('03'), sequence(nested(10_000)))]],
  [
    'ASN.1 10,000 deep in a P7B',
    () => [sequence(element(0x06, Buffer.from('2a864886f70d010702', 'hex')), nested(10_000))],
  ],
  ['an RSA key of 16 bits', () => [rsaKeyOf(1)]],
  ['an RSA key of 65,536 bits', () => [rsaKeyOf(8_192)]],
  ['a PFX of 2^31 rounds', () => [withRounds(sample('leaf-rsa.aes256-sha256mac.pfx'), 2 ** 31)]],
  ['a PFX of 2^31 - 1 rounds', () => [withRounds(sample('leaf-rsa.aes256-sha256mac.pfx'), 2 ** 31 - 1)]],
  ['archives in archives, as in 42.zip', () => [archivesIn(3)]],
  ['a million entries', () => [zipOf([{ name: 'a', bytes: leaf }], { entryCount: 1_000_000 })]],
  ['a ZIP of zeros', () => [zipOf([{ name: 'a', bytes: Buffer.alloc(20_000_000) }])]],
];
