import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { Key } from '../config.ts';

export interface Secrets {
  /**
   * Encrypts a secret for storing. `context` names the place it is kept, such as `smtp_configs.password:<tenant id>`;
   * only the same context opens it again, so a value carried to another row is of no use there.
   */
  seal(plaintext: string, context: string): string;
  /** The secret in an envelope. Throws an UnreadableSecretError for one that was changed, moved, or sealed with a key that is not here. */
  open(envelope: string, context: string): string;
  /** Whether an envelope was sealed with the key that is used for new ones. */
  isCurrent(envelope: string): boolean;
}

/** A stored secret that no key here opens; says which key it names and nothing of its content. */
export class UnreadableSecretError extends Error {
  /** Null when the value is no envelope at all. */
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

/** Secrets at rest under these keys: the first seals, all open. Envelopes read `v1:<key id>:<nonce>:<ciphertext and tag>`. */
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
        // The cipher's own error says no more, and what it failed on is not for any log.
        throw new UnreadableSecretError(
          keyId,
          `the key "${keyId}" does not open it. It was changed or moved, or sealed with another key of that name.`,
        );
      }
    },

    isCurrent: (envelope) => envelope.startsWith(envelopePrefix(current.id)),
  };
}

/** What is authenticated beside the ciphertext: format and key as well, so that no part of an envelope can be exchanged. */
const boundTo = (keyId: string, context: string): Buffer => Buffer.from(`${envelopePrefix(keyId)}${context}`, 'utf8');

function parseEnvelope(envelope: string): { keyId: string; nonce: Buffer; sealed: Buffer } {
  const { keyId, nonce, sealed } = envelopeParts.exec(envelope)?.groups ?? {};
  if (keyId === undefined || nonce === undefined || sealed === undefined) throw notAnEnvelope(null);
  const bytes = { nonce: decode(nonce), sealed: decode(sealed) };
  if (bytes.nonce?.length !== nonceBytes || !bytes.sealed || bytes.sealed.length < tagBytes) throw notAnEnvelope(keyId);
  return { keyId, nonce: bytes.nonce, sealed: bytes.sealed };
}

/** Null for text that decodes but is not how we would have written it: one envelope has one spelling. */
function decode(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64url');
  return bytes.toString('base64url') === text ? bytes : null;
}

const notAnEnvelope = (keyId: string | null): UnreadableSecretError =>
  new UnreadableSecretError(keyId, 'it is no complete envelope.');
