import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { Key } from '../config.ts';

export interface Secrets {
  /**
   * Encrypts a secret for storage. `context` names its place, such as `smtp_configs.password:<tenant id>`. Only the same context opens it,
   * so a value moved to another row is useless there.
   */
  seal(plaintext: string, context: string): string;
  /** Decrypts an envelope. Throws an UnreadableSecretError if it was changed or moved, or if its key is missing. */
  open(envelope: string, context: string): string;
  /** Whether an envelope is sealed with the first key, which seals new secrets. */
  isCurrent(envelope: string): boolean;
}

/** No key opens a stored secret; the error names the key but nothing of the content. */
export class UnreadableSecretError extends Error {
  /** Null if the value is not an envelope. */
  readonly keyId: string | null;

  constructor(keyId: string | null, problem: string) {
    super(`A stored secret cannot be read: ${problem}`);
    this.name = 'UnreadableSecretError';
    this.keyId = keyId;
  }
}

const algorithm = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;
const encoded = '[A-Za-z0-9_-]+';
const envelopeParts = new RegExp(`^v1:(?<keyId>[A-Za-z0-9_-]{1,32}):(?<nonce>${encoded}):(?<sealed>${encoded})$`);

const envelopePrefix = (keyId: string): string => `v1:${keyId}:`;

/** Seals with the first of these keys and opens with all. Envelope format: `v1:<key id>:<nonce>:<ciphertext and tag>`. */
export function openSecrets(keys: readonly [Key, ...Key[]]): Secrets {
  const [current] = keys;
  const byId = new Map(keys.map(({ id, bytes }) => [id, bytes]));

  return {
    seal(plaintext, context) {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv(algorithm, current.bytes.reveal(), nonce, { authTagLength: tagBytes });
      cipher.setAAD(boundTo(current.id, context));
      const sealed = Buffer.concat([cipher.update(plaintext, 'utf8'), cipher.final(), cipher.getAuthTag()]);
      return `${envelopePrefix(current.id)}${nonce.toString('base64url')}:${sealed.toString('base64url')}`;
    },

    open(envelope, context) {
      const { keyId, nonce, sealed } = parseEnvelope(envelope);
      const key = byId.get(keyId);
      if (!key)
        throw new UnreadableSecretError(
          keyId,
          `it was sealed with the key "${keyId}", which is not among SECRETS_KEYS.`,
        );
      const decipher = createDecipheriv(algorithm, key.reveal(), nonce, { authTagLength: tagBytes });
      decipher.setAAD(boundTo(keyId, context));
      decipher.setAuthTag(sealed.subarray(-tagBytes));
      try {
        return Buffer.concat([decipher.update(sealed.subarray(0, -tagBytes)), decipher.final()]).toString('utf8');
      } catch {
        // The cipher's error says no more, and its data must not be logged.
        throw new UnreadableSecretError(
          keyId,
          `the key "${keyId}" does not open it. It was changed or moved, or sealed with another key of that name.`,
        );
      }
    },

    isCurrent: (envelope) => envelope.startsWith(envelopePrefix(current.id)),
  };
}

/** Additional authenticated data: includes format and key id, so that no part of an envelope can be exchanged. */
const boundTo = (keyId: string, context: string): Buffer => Buffer.from(`${envelopePrefix(keyId)}${context}`, 'utf8');

function parseEnvelope(envelope: string): { keyId: string; nonce: Buffer; sealed: Buffer } {
  const { keyId, nonce, sealed } = envelopeParts.exec(envelope)?.groups ?? {};
  if (keyId === undefined || nonce === undefined || sealed === undefined) throw notAnEnvelope(null);
  const bytes = { nonce: decode(nonce), sealed: decode(sealed) };
  if (bytes.nonce?.length !== nonceBytes || !bytes.sealed || bytes.sealed.length < tagBytes) throw notAnEnvelope(keyId);
  return { keyId, nonce: bytes.nonce, sealed: bytes.sealed };
}

/** Null for text that is not in canonical form, so that each envelope has only one spelling. */
function decode(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : null;
}

const notAnEnvelope = (keyId: string | null): UnreadableSecretError =>
  new UnreadableSecretError(keyId, 'it is no complete envelope.');
