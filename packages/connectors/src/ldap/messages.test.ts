import { expect, it } from 'vitest';
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

it('cuts a stream into messages wherever it is broken', () => {
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

it('refuses what is no LDAP, and a message that is too long before it comes', () => {
  expect(() => new MessageSplitter().push(Buffer.from('220 mail.example.org ESMTP'))).toThrow(BerError);
  expect(() => new MessageSplitter().push(Buffer.from('HTTP/1.1 400 Bad Request'))).toThrow(BerError);
  expect(() => new MessageSplitter().push(Buffer.from([0x30, 0x80, 0]))).toThrow(BerError);
  expect(() => new MessageSplitter().push(Buffer.from([0x30, 0x84, 0x7f, 0xff, 0xff, 0xff]))).toThrow(
    MessageTooLongError,
  );
});

it('never reads a shortened answer as a success', () => {
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

it('finds the cookie of a page, and none where the server did not page', () => {
  const cookie = Buffer.from('next');
  const paged = parseMessage(searchDone(1, { code: 0, cookie }));
  expect(pageCookie(controlValue(paged.controls, '1.2.840.113556.1.4.319'))).toEqual(cookie);
  expect(controlValue(paged.controls, '1.2.3')).toBeNull();
  const unpaged = parseMessage(searchDone(1, { code: 0 }));
  expect(pageCookie(controlValue(unpaged.controls, '1.2.840.113556.1.4.319'))).toHaveLength(0);
});

it('gives the values of an attribute however its name is spelled', () => {
  const found = entry({ Mail: ['a@example.org', 'ü@example.org'], __proto__x: ['1'], description: [] });
  expect(found.dn).toBe('cn=Jürgen\\, Groß');
  expect(found.values('mAIL')).toEqual(['a@example.org', 'ü@example.org']);
  expect(found.bytes('MAIL')[0]).toEqual(Buffer.from('a@example.org'));
  expect(found.values('description')).toEqual([]);
  expect(found.values('constructor')).toEqual([]);
  expect(found.attributes()).toEqual(['mail', '__proto__x', 'description']);
});
