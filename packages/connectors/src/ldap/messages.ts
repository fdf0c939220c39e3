import { GatheredBytes } from '@portal/domain/gathered-bytes';
import { BerError, readElement, readWhole, type Span } from './ber.ts';
import type { LdapResult } from './ldap-error.ts';

/** The supported answers (RFC 4511 section 4.2 to 4.12). */
export const operation = {
  bindResponse: 0x61,
  searchEntry: 0x64,
  searchDone: 0x65,
  searchReference: 0x73,
  extendedResponse: 0x78,
} as const;

export interface LdapMessage {
  /** 0 for an unsolicited message. */
  id: number;
  operation: number;
  content: Buffer;
  controls: Buffer | null;
}

// A group with all people of a large organization is one message: 100,000 names of 80 characters are 8 MB.
const usualMessageBytes = 12 * 1024 * 1024;

/** The total length of the message at `at`; null while its header is incomplete. */
function messageLength(bytes: Buffer, at: number): number | null {
  if (bytes.length < at + 2) return null;
  if (bytes[at] !== 0x30) throw new BerError('not an LDAP message');
  const first = bytes[at + 1] as number;
  if (first < 0x80) return 2 + first;
  const lengthBytes = first & 0x7f;
  if (lengthBytes === 0 || lengthBytes > 4) throw new BerError('unreadable length');
  return bytes.length < at + 2 + lengthBytes ? null : 2 + lengthBytes + bytes.readUIntBE(at + 2, lengthBytes);
}

export class MessageTooLongError extends Error {}

/**
 * Splits the received bytes into whole messages. Throws a BerError for bytes that are not LDAP, and a MessageTooLongError
 * as soon as the header of a message announces too many bytes.
 */
export class MessageSplitter {
  readonly #waiting = new GatheredBytes();
  readonly #maxBytes: number;
  #neededBytes = 0;

  /** Limits a message to `maxBytes`, but never to more than 12 MiB. */
  constructor(maxBytes = usualMessageBytes) {
    this.#maxBytes = Math.min(maxBytes, usualMessageBytes);
  }

  push(chunk: Buffer): Buffer[] {
    this.#waiting.add(chunk, this.#neededBytes);
    if (this.#waiting.length < this.#neededBytes) return [];
    const { buffer, byteOffset, byteLength } = this.#waiting.take();
    const bytes = Buffer.from(buffer, byteOffset, byteLength);
    const messages: Buffer[] = [];
    let at = 0;
    let length = messageLength(bytes, at);
    while (length !== null && at + length <= bytes.length) {
      messages.push(bytes.subarray(at, at + length));
      at += length;
      length = messageLength(bytes, at);
    }
    if (length !== null && length > this.#maxBytes) throw new MessageTooLongError();
    const rest = bytes.subarray(at);
    if (rest.length > 0) this.#waiting.add(rest);
    this.#neededBytes = length ?? 0;
    return messages;
  }

  /** Whether a message is incomplete. */
  get isMidway(): boolean {
    return this.#waiting.length > 0;
  }

  /** The length of the incomplete message; 0 while it is unknown. */
  get expectedBytes(): number {
    return this.#neededBytes;
  }
}

const content = (bytes: Buffer, { start, end }: Span): Buffer => bytes.subarray(start, end);

/** Throws a BerError for bytes that are not a message. */
export function parseMessage(bytes: Buffer): LdapMessage {
  const message = readElement(bytes, 0, 0x30);
  const id = readElement(bytes, message.start, 0x02, message.end);
  const tag = bytes[id.end] ?? 0;
  const body = readElement(bytes, id.end, tag, message.end);
  const hasControls = body.end < message.end && bytes[body.end] === 0xa0;
  return {
    id: readWhole(bytes, id),
    operation: tag,
    content: content(bytes, body),
    controls: hasControls ? content(bytes, readElement(bytes, body.end, 0xa0, message.end)) : null,
  };
}

/** Parses the result at the start of a response. A response without a result is an error, never a success. */
export function parseResult(response: Buffer): LdapResult {
  const code = readElement(response, 0, 0x0a);
  const matchedDn = readElement(response, code.end, 0x04);
  const diagnostic = readElement(response, matchedDn.end, 0x04);
  return { code: readWhole(response, code), diagnostic: response.toString('utf8', diagnostic.start, diagnostic.end) };
}

/** The value of a control in the answer, or null. */
export function controlValue(controls: Buffer | null, type: string): Buffer | null {
  if (controls === null) return null;
  for (let at = 0; at < controls.length;) {
    const control = readElement(controls, at, 0x30);
    const name = readElement(controls, control.start, 0x04, control.end);
    if (controls.toString('latin1', name.start, name.end) === type) {
      const hasCriticality = controls[name.end] === 0x01;
      const valueAt = hasCriticality ? readElement(controls, name.end, 0x01, control.end).end : name.end;
      return valueAt < control.end ? content(controls, readElement(controls, valueAt, 0x04, control.end)) : null;
    }
    at = control.end;
  }
  return null;
}

/** The cookie of a paged answer (RFC 2696); empty on the last page and if the server did not page. */
export function pageCookie(value: Buffer | null): Buffer {
  if (value === null) return Buffer.alloc(0);
  const sequence = readElement(value, 0, 0x30);
  const size = readElement(value, sequence.start, 0x02, sequence.end);
  // A copy, because a view would keep the whole page alive
  return Buffer.from(content(value, readElement(value, size.end, 0x04, sequence.end)));
}
