import { describe, expect, it } from 'vitest';
import { type CloudVersion, readStatusAnswer } from './reading.ts';

const url = new URL('https://cloud.example.org/status.php');
const document = {
  installed: true,
  maintenance: false,
  needsDbUpgrade: false,
  version: '34.0.3.2',
  versionstring: '34.0.3',
  edition: '',
  productname: 'Kunde A Cloud',
  extendedSupport: false,
};
const page = '<!doctype html><title>Sign in</title>';

const read = (body: unknown, { status = 200, location = null as string | null, from = url } = {}) =>
  readStatusAnswer({
    status,
    location,
    asked: url,
    url: from,
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

const versionOf = (changes: Record<string, unknown>): CloudVersion | null => {
  const reading = read({ ...document, ...changes });
  if (!reading.isReached) throw new Error(reading.message);
  return reading.version;
};

describe('a status document', () => {
  it('is read completely', () => {
    expect(read(document)).toEqual({
      isReached: true,
      isMaintenance: false,
      needsDbUpgrade: false,
      message: null,
      version: { shown: '34.0.3', release: '34.0.3', hasExtendedSupport: false, productName: 'Kunde A Cloud' },
    });
  });

  it.each<[string, Parameters<typeof read>, object]>([
    ['maintenance', [{ ...document, maintenance: true }], { isReached: true, isMaintenance: true }],
    [
      'maintenance behind a proxy',
      [{ maintenance: true }, { status: 503 }],
      { isReached: true, isMaintenance: true, version: null },
    ],
    [
      'maintenance behind a proxy, with the full document',
      [{ ...document, maintenance: 'true' }, { status: 503 }],
      { isReached: true, isMaintenance: true },
    ],
    ['an unfinished update', [{ ...document, needsDbUpgrade: true }], { isReached: true, needsDbUpgrade: true }],
    ['flags as numbers', [{ ...document, installed: 1, maintenance: '0' }], { isReached: true, isMaintenance: false }],
    ['a byte order mark', [`\ufeff${JSON.stringify(document)}`], { isReached: true }],
    ['not installed', [{ ...document, installed: false }], { isReached: false, failure: 'antwortform' }],
    ['503 without maintenance', [document, { status: 503 }], { isReached: false, failure: 'server' }],
    ['503 and a page', [page, { status: 503 }], { isReached: false, failure: 'server' }],
    ['599 “Broken”', ['Broken', { status: 599 }], { isReached: false, failure: 'server' }],
    ['500', ['', { status: 500 }], { isReached: false, failure: 'server' }],
    ['501', ['', { status: 501 }], { isReached: false, failure: 'antwortform' }],
    ['429', ['', { status: 429 }], { isReached: false, failure: 'server' }],
    ['400', ['', { status: 400 }], { isReached: false, failure: 'antwortform' }],
    ['401', [page, { status: 401 }], { isReached: false, failure: 'zugang' }],
    ['403', [page, { status: 403 }], { isReached: false, failure: 'rechte' }],
    ['404', [page, { status: 404 }], { isReached: false, failure: 'antwortform' }],
    ['204', ['', { status: 204 }], { isReached: false, failure: 'antwortform' }],
    ['a page', [page], { isReached: false, failure: 'antwortform' }],
    ['nothing', [''], { isReached: false, failure: 'antwortform' }],
    ['null', ['null'], { isReached: false, failure: 'antwortform' }],
    ['a list', ['[]'], { isReached: false, failure: 'antwortform' }],
    ['a list of documents', [[document]], { isReached: false, failure: 'antwortform' }],
    ['text', ['"ok"'], { isReached: false, failure: 'antwortform' }],
    ['other JSON', [{}], { isReached: false, failure: 'antwortform' }],
    ['an invalid flag', [{ ...document, installed: 'yes' }], { isReached: false, failure: 'antwortform' }],
    ['truncated JSON', ['{"installed":true,'], { isReached: false, failure: 'antwortform' }],
    ['JSON of ten thousand levels', ['['.repeat(10_000)], { isReached: false, failure: 'antwortform' }],
  ])('is read: %s', (_what, answer, expected) => {
    expect(read(...answer)).toMatchObject(expected);
  });

  it('of an untrusted host name points to the trusted domains', () => {
    const reading = read({ error: 'Trusted domain error.', code: 15 }, { status: 400 });
    expect(reading).toMatchObject({ failure: 'antwortform', message: expect.stringContaining('trusted domains') });
  });

  it('names the address behind a redirect, and the target of a redirect to elsewhere', () => {
    const from = new URL('https://cloud.example.org/nextcloud/status.php');
    expect(read(document, { from })).toMatchObject({ isReached: true, message: expect.stringContaining(from.href) });
    expect(read('', { status: 302, location: '/login' })).toMatchObject({
      failure: 'antwortform',
      message: expect.stringContaining('/login'),
    });
  });
});

describe('a version', () => {
  it.each<[string, Record<string, unknown>, Partial<CloudVersion>]>([
    [
      'with a suffix of the vendor',
      { version: '32.0.6.1', versionstring: '32.0.6 Enterprise' },
      { shown: '32.0.6 Enterprise', release: '32.0.6' },
    ],
    ['of three parts', { version: '34.0.3' }, { release: '34.0.3' }],
    ['only in the text', { version: undefined }, { release: '34.0.3' }],
    ['with leading zeros', { version: '034.00.03.1' }, { release: '34.0.3' }],
    ['of a beta', { version: '35.0.0.4', versionstring: '35.0.0 beta 4' }, { shown: '35.0.0 beta 4', release: null }],
    ['of a release candidate', { version: '35.0.0.9', versionstring: '35.0.0 RC1' }, { release: null }],
    [
      'that is hidden',
      { version: '', versionstring: '', productname: '' },
      { shown: null, release: null, productName: null },
    ],
    [
      'of ten thousand characters',
      { version: '1'.repeat(10_000), versionstring: '3'.repeat(10_000) },
      { shown: null, release: null },
    ],
    ['that is not a version', { version: 'latest', versionstring: '' }, { shown: null, release: null }],
    ['of two parts', { version: '34.0', versionstring: '' }, { release: null }],
    ['that is not text', { version: 34, versionstring: '34.0.3' }, { release: '34.0.3' }],
    ['of a related product that names itself', { product: 'ownCloud', version: '34.0.3.2' }, { release: null }],
    ['of a related product with an edition', { edition: 'Community', version: '10.15.0.0' }, { release: null }],
    [
      'of a related product, known by its number',
      { version: '10.15.0.0', versionstring: '10.15.0' },
      { shown: '10.15.0', release: null },
    ],
    [
      'of Infinite Scale',
      {
        product: 'Infinite Scale',
        version: '10.11.0.0',
        versionstring: '10.11.0',
        productversion: '7.1.2',
        productname: 'Infinite Scale',
      },
      { shown: '7.1.2', release: null },
    ],
    ['with extended support', { extendedSupport: true }, { hasExtendedSupport: true }],
  ])('%s', (_what, changes, expected) => {
    expect(versionOf(changes)).toMatchObject(expected);
  });

  it('is null if the document has none', () => {
    expect(versionOf({ version: undefined, versionstring: undefined })).toBeNull();
  });

  it('and a name are always shown on one line', () => {
    expect(versionOf({ productname: ` A\u0000\n\u202EB\ud800${'c'.repeat(10_000)}` })?.productName).toHaveLength(200);
    expect(versionOf({ productname: 'A\u0000\n\u202EB' })?.productName).toBe('A B');
    expect(versionOf({ productname: { toString: 'x' } })?.productName).toBeNull();
  });
});
