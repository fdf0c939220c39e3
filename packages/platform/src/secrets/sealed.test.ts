import { createDecipheriv, randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import { assert, property, string } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Secret } from '@portal/domain/secret';
import type { Key } from '../config.ts';
import { openSecrets, UnreadableSecretError } from './sealed.ts';

const key = (id: string): Key => ({ id, bytes: new Secret(randomBytes(32)) });
const [first, second] = [key('2026-11'), key('old_key')];
const place = 'smtp_configs.password:0198d3bf-91f2-7d10-a1b3-5b0f6ce1d2e3';
const secrets = openSecrets([first]);

const refusal = (work: () => unknown): UnreadableSecretError => {
  try {
    work();
  } catch (error) {
    if (error instanceof UnreadableSecretError) return error;
    throw error;
  }
  throw new Error('was read');
};

describe('a sealed secret', () => {
  it.each(['hunter2', '', 'Öffne dich 🔑', 'a\0b', 'x'.repeat(100_000)])('opens to its plaintext', (plaintext) => {
    expect(secrets.open(secrets.seal(plaintext, place), place)).toBe(plaintext);
  });

  it('opens to its plaintext for any text and context', () => {
    assert(
      property(string({ unit: 'grapheme' }), string({ unit: 'grapheme' }), (plaintext, context) => {
        expect(secrets.open(secrets.seal(plaintext, context), context)).toBe(plaintext);
      }),
    );
  });

  it('is AES-256-GCM with a random nonce of 96 bits, bound to format, key and context', () => {
    const [version, keyId, nonce = '', sealed = '', ...rest] = secrets.seal('hunter2', place).split(':');
    expect([version, keyId, rest]).toEqual(['v1', '2026-11', []]);
    const bytes = Buffer.from(sealed, 'base64url');
    expect(Buffer.from(nonce, 'base64url')).toHaveLength(12);
    const decipher = createDecipheriv('aes-256-gcm', first.bytes.reveal(), Buffer.from(nonce, 'base64url'));
    decipher.setAAD(Buffer.from(`v1:2026-11:${place}`));
    decipher.setAuthTag(bytes.subarray(-16));
    expect(decipher.update(bytes.subarray(0, -16), undefined, 'utf8') + decipher.final('utf8')).toBe('hunter2');
  });

  it('looks different each time', () => {
    expect(new Set(Array.from({ length: 100 }, () => secrets.seal('hunter2', place))).size).toBe(100);
  });

  it('does not open in another context', () => {
    const envelope = secrets.seal('hunter2', place);
    for (const elsewhere of [
      '',
      place.slice(0, -1),
      `${place}0`,
      place.replace('password', 'host'),
      place.toUpperCase(),
    ]) {
      expect(refusal(() => secrets.open(envelope, elsewhere)).keyId).toBe('2026-11');
    }
  });

  it('does not open after any bit of nonce, ciphertext or tag has changed', () => {
    const [version, keyId, nonce = '', sealed = ''] = secrets.seal('hunter2', place).split(':');
    for (const [part, rebuild] of [
      [nonce, (changed: string) => [version, keyId, changed, sealed]],
      [sealed, (changed: string) => [version, keyId, nonce, changed]],
    ] as const) {
      const bytes = Buffer.from(part, 'base64url');
      for (let bit = 0; bit < bytes.length * 8; bit++) {
        const changed = Buffer.from(bytes);
        changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
        expect(refusal(() => secrets.open(rebuild(changed.toString('base64url')).join(':'), place)).keyId).toBe(
          '2026-11',
        );
      }
    }
  });

  it('does not open after any character has been changed, added or removed', () => {
    const envelope = secrets.seal('hunter2', place);
    for (let at = 0; at < envelope.length; at++) {
      const [before, sign, after] = [envelope.slice(0, at), envelope.charAt(at), envelope.slice(at + 1)];
      for (const changed of [
        `${before}${sign === 'A' ? 'B' : 'A'}${after}`,
        `${before}${after}`,
        `${before}A${sign}${after}`,
        `${before}=${sign}${after}`,
      ]) {
        expect(() => secrets.open(changed, place)).toThrow(UnreadableSecretError);
      }
    }
    for (const changed of [`${envelope}=`, `${envelope}A`, `${envelope} `, `${envelope}\n`, ` ${envelope}`]) {
      expect(() => secrets.open(changed, place)).toThrow(UnreadableSecretError);
    }
  });

  it('does not open with parts of another envelope or another key id', () => {
    const both = openSecrets([first, { id: 'twin', bytes: first.bytes }]);
    const [one, other] = [both.seal('one', place).split(':'), both.seal('other', place).split(':')];
    expect(() => both.open([...one.slice(0, 3), other[3]].join(':'), place)).toThrow(UnreadableSecretError);
    expect(() => both.open(['v1', 'twin', one[2], one[3]].join(':'), place)).toThrow(UnreadableSecretError);
  });

  it.each([
    '',
    'hunter2',
    'v1',
    'v1:2026-11',
    'v1:2026-11::',
    'v1:2026-11:AAAA:AAAA',
    'v2:2026-11:AAAAAAAAAAAAAAAA:AAAAAAAAAAAAAAAAAAAAAA',
    'v1::a:b',
  ])('is not %j', (text) => {
    expect(refusal(() => secrets.open(text, place)).message).toBe(
      'A stored secret cannot be read: it is no complete envelope.',
    );
  });
});

describe('a key', () => {
  it('that was first still opens its secrets after another key becomes first', () => {
    const before = openSecrets([second]).seal('hunter2', place);
    const rotated = openSecrets([first, second]);
    expect(rotated.open(before, place)).toBe('hunter2');
    expect(rotated.isCurrent(before)).toBe(false);
    const after = rotated.seal('hunter2', place);
    expect(rotated.isCurrent(after)).toBe(true);
    expect(openSecrets([first]).open(after, place)).toBe('hunter2');
  });

  it('is not confused with a key whose id has the same beginning', () => {
    const envelope = openSecrets([{ ...first, id: 'a' }]).seal('hunter2', place);
    expect(openSecrets([key('ab'), first]).isCurrent(envelope)).toBe(false);
    expect(openSecrets([key('a'), first]).isCurrent(envelope)).toBe(true);
  });

  it('that is missing is named in the error', () => {
    const envelope = openSecrets([second]).seal('hunter2', place);
    const error = refusal(() => secrets.open(envelope, place));
    expect(error.keyId).toBe('old_key');
    expect(error.message).toBe(
      'A stored secret cannot be read: it was sealed with the key "old_key", which is not among SECRETS_KEYS.',
    );
  });

  it('that was replaced under the same id is named in the error, which shows nothing of the value', () => {
    const envelope = openSecrets([{ ...second, id: '2026-11' }]).seal('hunter2', place);
    const error = refusal(() => secrets.open(envelope, place));
    expect(error.keyId).toBe('2026-11');
    const printed = inspect(error, { depth: 9, showHidden: true });
    expect(printed).toContain('the key "2026-11" does not open it');
    for (const hidden of ['hunter2', ...envelope.split(':').slice(2)]) expect(printed).not.toContain(hidden);
  });
});
