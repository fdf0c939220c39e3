import { createHash, createHmac, type KeyObject, randomBytes } from 'node:crypto';
import forge from 'node-forge';
import type { Deadline } from '../reading/deadline.ts';
import { binary, derivePkcs12Key, forgeWithin, fromDer, purpose, toDer } from '../reading/forge.ts';
import type { FoundCertificate } from '../reading/found.ts';

/** Key derivation and encryption with a password. */
const protections = {
  modern: { algorithm: 'aes256', prfAlgorithm: 'sha256', hash: 'sha256', keyBytes: 32, rounds: 100_000 },
  /** For systems that report a wrong password for AES-256 files. They expect few rounds. */
  legacy: { algorithm: '3des', prfAlgorithm: 'sha1', hash: 'sha1', keyBytes: 20, rounds: 2_048 },
} as const;

const oids = {
  data: '1.2.840.113549.1.7.1',
  encryptedData: '1.2.840.113549.1.7.6',
  lockedKeyBag: '1.2.840.113549.1.12.10.1.2',
  certificateBag: '1.2.840.113549.1.12.10.1.3',
  x509Certificate: '1.2.840.113549.1.9.22.1',
  friendlyName: '1.2.840.113549.1.9.20',
  localKeyId: '1.2.840.113549.1.9.21',
  sha1: '1.3.14.3.2.26',
  sha256: '2.16.840.1.101.3.4.2.1',
};

const { asn1 } = forge;
type Asn1 = forge.asn1.Asn1;
const sequence = (...parts: Asn1[]) => asn1.create(asn1.Class.UNIVERSAL, asn1.Type.SEQUENCE, true, parts);
const set = (...parts: Asn1[]) => asn1.create(asn1.Class.UNIVERSAL, asn1.Type.SET, true, parts);
const simple = (type: forge.asn1.Type, value: string) => asn1.create(asn1.Class.UNIVERSAL, type, false, value);
const octets = (bytes: Uint8Array) => simple(asn1.Type.OCTETSTRING, binary(bytes));
const oid = (name: keyof typeof oids) => simple(asn1.Type.OID, asn1.oidToDer(oids[name]).getBytes());
const integer = (value: number) => simple(asn1.Type.INTEGER, asn1.integerToDer(value).getBytes());
const explicit = (part: Asn1) => asn1.create(asn1.Class.CONTEXT_SPECIFIC, asn1.Type.NONE, true, [part]);

export interface PfxInput {
  key: KeyObject;
  /** The certificate of the key first. */
  certificates: FoundCertificate[];
  password: string;
  friendlyName: string;
  isLegacy: boolean;
}

/**
 * A PFX (RFC 7292): the key and the certificates, each encrypted with the password, and a checksum over both. Not written by the library,
 * because it supports only RSA and does not encrypt certificates.
 */
export function writePfx(
  { key, certificates, password, friendlyName, isLegacy }: PfxInput,
  deadline: Deadline,
): Buffer {
  const { pki } = forgeWithin(deadline);
  const { algorithm, prfAlgorithm, hash, keyBytes, rounds } = isLegacy ? protections.legacy : protections.modern;

  /** The format of an encrypted key (RFC 5958) fits any content: an algorithm and encrypted bytes. */
  const lock = (part: Asn1): Asn1 =>
    pki.encryptPrivateKeyInfo(part, password, { algorithm, prfAlgorithm, count: rounds });

  const [own] = certificates;
  const localKeyId = createHash('sha1')
    .update(own?.x509.raw ?? '')
    .digest();
  const ownAttributes = set(
    sequence(oid('localKeyId'), set(octets(localKeyId))),
    ...(friendlyName === '' ? [] : [sequence(oid('friendlyName'), set(simple(asn1.Type.BMPSTRING, friendlyName)))]),
  );
  const keyBag = sequence(
    oid('lockedKeyBag'),
    explicit(lock(fromDer(key.export({ type: 'pkcs8', format: 'der' })))),
    ownAttributes,
  );
  const certificateBags = certificates.map((certificate) =>
    sequence(
      oid('certificateBag'),
      explicit(sequence(oid('x509Certificate'), explicit(octets(certificate.x509.raw)))),
      ...(certificate === own ? [ownAttributes] : []),
    ),
  );

  const lockedCertificates = lock(sequence(...certificateBags));
  const [lockedBy, lockedBytes] = lockedCertificates.value as [Asn1, Asn1];
  const content = toDer(
    sequence(
      sequence(oid('data'), explicit(octets(toDer(sequence(keyBag))))),
      sequence(
        oid('encryptedData'),
        explicit(
          sequence(
            integer(0),
            sequence(
              oid('data'),
              lockedBy,
              asn1.create(asn1.Class.CONTEXT_SPECIFIC, asn1.Type.NONE, false, lockedBytes.value),
            ),
          ),
        ),
      ),
    ),
  );

  const salt = randomBytes(16);
  const macKey = derivePkcs12Key(password, { salt, rounds, keyBytes, hash }, purpose.checksum);
  const mac = createHmac(hash, macKey).update(content).digest();
  return toDer(
    sequence(
      integer(3),
      sequence(oid('data'), explicit(octets(content))),
      sequence(sequence(sequence(oid(hash), simple(asn1.Type.NULL, '')), octets(mac)), octets(salt), integer(rounds)),
    ),
  );
}
