import { expect, it } from 'vitest';
import { heldBytes } from '@portal/testing/held-bytes';
import { bindResponse, searchDone, searchEntry } from '@portal/testing/servers/ldap-wire';
import { BerError } from './ber.ts';
import { LdapEntry } from './entry.ts';
import {
  controlValue,
  MessageSplitter,
  MessageTooLongError,
  pageCookie,
  parseMessage,
  parseResult,
} from './messages.ts';

const entry = (attributes: Record<string, string[]>): LdapEntry => {
  const pairs = Object.entries(attributes).map(([name, values]): [string, Buffer[]] => [
    name,
    values.map((value) => Buffer.from(value)),
  ]);
  return new LdapEntry(parseMessage(searchEntry(1, 'cn=Jürgen\\, Groß', pairs)).content);
};

it('splits a stream into messages regardless of its chunks', () => {
  const messages = [
    bindResponse(1, { code: 0 }),
    searchEntry(2, 'cn=a', [['cn', [Buffer.alloc(300, 'x')]]]),
    searchDone(300, { code: 4, diagnostic: 'y'.repeat(70_000) }),
  ];
  const stream = Buffer.concat(messages);
  for (const size of [1, 2, 3, 7, 1_000, stream.length]) {
    const splitter = new MessageSplitter();
    const found: Buffer[] = [];
    for (let at = 0; at < stream.length; at += size) {
      expect(splitter.isMidway).toBe(Buffer.concat(found).length < at);
      found.push(...splitter.push(stream.subarray(at, at + size)));
    }
    expect(found).toEqual(messages);
    expect(splitter.isMidway).toBe(false);
  }
});

it('buffers a message that arrives byte by byte without extra memory', () => {
  const splitter = new MessageSplitter();
  splitter.push(Buffer.from([0x30, 0x83, 0xb0, 0, 0]));
  const before = heldBytes();
  for (let sent = 0; sent < 2_000_000; sent += 1) splitter.push(Buffer.from([1]));
  expect([splitter.isMidway, splitter.expectedBytes]).toEqual([true, 5 + 0xb0_00_00]);
  expect(heldBytes() - before).toBeLessThan(60 * 1024 * 1024);
});

it('refuses bytes that are not LDAP, and a too long message before it arrives', () => {
  expect(() => new MessageSplitter().push(Buffer.from('220 mail.example.org ESMTP'))).toThrow(BerError);
  expect(() => new MessageSplitter().push(Buffer.from('HTTP/1.1 400 Bad Request'))).toThrow(BerError);
  expect(() => new MessageSplitter().push(Buffer.from([0x30, 0x80, 0]))).toThrow(BerError);
  expect(() => new MessageSplitter().push(Buffer.from([0x30, 0x84, 0x7f, 0xff, 0xff, 0xff]))).toThrow(
    MessageTooLongError,
  );
});

it('never reads a truncated answer as a success', () => {
  const whole = bindResponse(1, { code: 0 });
  for (let length = 1; length < whole.length; length += 1) {
    const cut = Buffer.from(whole.subarray(0, length));
    if (length > 1) cut[1] = length - 2;
    expect(() => parseResult(parseMessage(cut).content)).toThrow(BerError);
  }
});

it('survives any single wrong byte', () => {
  const whole = searchEntry(5, 'cn=a', [['member', [Buffer.from('cn=b'), Buffer.from('cn=c')]]]);
  for (let at = 0; at < whole.length; at += 1) {
    for (const value of [0x00, 0x02, 0x7f, 0x80, 0x84, 0xff]) {
      const broken = Buffer.from(whole);
      broken[at] = value;
      try {
        const read = new LdapEntry(parseMessage(broken).content);
        for (const name of read.attributes()) read.values(name);
      } catch (error) {
        expect(error).toBeInstanceOf(BerError);
      }
    }
  }
});

it('finds the cookie of a page, and none if the server did not page', () => {
  const cookie = Buffer.from('next');
  const paged = parseMessage(searchDone(1, { code: 0, cookie }));
  expect(pageCookie(controlValue(paged.controls, '1.2.840.113556.1.4.319'))).toEqual(cookie);
  expect(controlValue(paged.controls, '1.2.3')).toBeNull();
  const unpaged = parseMessage(searchDone(1, { code: 0 }));
  expect(pageCookie(controlValue(unpaged.controls, '1.2.840.113556.1.4.319'))).toHaveLength(0);
});

it('refuses an entry with too many attributes or values', () => {
  const name = Buffer.from([0x04, 0x00]);
  const long = (tag: number, content: Buffer) => {
    const head = Buffer.from([tag, 0x84, 0, 0, 0, 0]);
    head.writeUInt32BE(content.length, 2);
    return Buffer.concat([head, content]);
  };
  const many = (count: number, one: number[]) => Buffer.alloc(count * one.length, Buffer.from(one));
  const ofAttributes = (content: Buffer) => new LdapEntry(Buffer.concat([name, long(0x30, content)]));
  const countless = ofAttributes(many(100_000, [0x30, 0x04, 0x04, 0, 0x31, 0]));
  expect(() => countless.attributes()).toThrow(BerError);
  const values = long(0x31, many(5_000_000, [0x04, 0]));
  const endless = ofAttributes(long(0x30, Buffer.concat([Buffer.from([0x04, 2]), Buffer.from('cn'), values])));
  expect(() => endless.values('cn')).toThrow(BerError);
  expect(endless.values('cn', 3)).toEqual(['', '', '']);
  expect(() => [...endless.valuePortions('cn')]).toThrow(BerError);
  expect(endless.firstBytes('cn')).toHaveLength(0);
  const nameless = new LdapEntry(Buffer.concat([long(0x04, Buffer.alloc(70_000, 'a')), long(0x30, Buffer.alloc(0))]));
  expect(() => nameless.dn).toThrow(BerError);
  expect(() => nameless.attributes()).toThrow(BerError);
});

it('copies an entry out of the received buffer', () => {
  const { content } = parseMessage(searchEntry(1, 'cn=a', [['cn', [Buffer.from('a')]]]));
  const received = Buffer.concat([content, Buffer.alloc(60_000)]);
  const copy = new LdapEntry(received.subarray(0, content.length)).copy();
  expect([copy.dn, copy.values('cn')]).toEqual(['cn=a', ['a']]);
  expect(copy.raw.buffer).not.toBe(received.buffer);
});

it('returns many values in portions, completely and in order', () => {
  const all = Array.from({ length: 1_234 }, (_, n) => `uid=${n}`);
  const portions = [...entry({ member: all }).valuePortions('Member')];
  expect(portions.map(({ length }) => length)).toEqual([500, 500, 234]);
  expect(portions.flat()).toEqual(all);
  expect([...entry({ member: [] }).valuePortions('member')]).toEqual([]);
  expect([...entry({}).valuePortions('member')]).toEqual([]);
});

it('finds the values of an attribute regardless of case', () => {
  const found = entry({ Mail: ['a@example.org', 'ü@example.org'], __proto__x: ['1'], description: [] });
  expect(found.dn).toBe('cn=Jürgen\\, Groß');
  expect(found.values('mAIL')).toEqual(['a@example.org', 'ü@example.org']);
  expect(found.firstBytes('MAIL')).toEqual(Buffer.from('a@example.org'));
  expect(found.values('description')).toEqual([]);
  expect(found.firstBytes('description')).toBeUndefined();
  expect(found.values('constructor')).toEqual([]);
  expect(found.attributes()).toEqual(['mail', '__proto__x', 'description']);
});
