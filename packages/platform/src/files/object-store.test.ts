import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { PortalError } from '@portal/domain/errors';
import { newId } from '@portal/domain/ids';
import { Secret } from '@portal/domain/secret';
import { startHttpServer } from '@portal/testing/servers/http-server';
import { startObjectStore } from '@portal/testing/servers/object-store';
import { describeFailure } from '../failure.ts';
import { type ObjectStoreSettings, usualTimes } from './object-store-calls.ts';
import { openObjectStore } from './object-store.ts';
import type { FileStream } from './opened-file.ts';
import type { FileStore } from './store.ts';

/** Answers of a store that does what s3rver never does; the calls it has received. */
type Answer = (request: IncomingMessage, response: ServerResponse, body: Buffer) => unknown;
let answer: Answer;
let seen: string[] = [];
const server = await startHttpServer((request, response) => {
  const url = new URL(request.url ?? '', 'http://store');
  seen.push(`${request.method} ${decodeURIComponent(url.pathname + url.search)}`);
  void buffer(request).then(
    (body) => answer(request, response, body),
    () => undefined,
  );
});
const real = await startObjectStore();
afterAll(() => Promise.all([server.close(), real.stop()]));

const key = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: new Secret('the-secret-key-of-the-store') };
const settings: ObjectStoreSettings = {
  endpoint: new URL(server.origin),
  region: 'eu-central-1',
  bucket: 'files-of-all',
  prefix: 'portal/',
  ...key,
};
const quick = { ...usualTimes, tryMs: 1_000, callMs: 5_000, silenceMs: 200, restMs: 400, watchMs: 50 };
let warnings: unknown[] = [];
let faults: string[] = [];
let files: FileStore;
beforeEach(() => {
  seen = [];
  warnings = [];
  faults = [];
  const log = { warn: (fields: unknown) => void warnings.push(fields) };
  files = openObjectStore(settings, log, { times: quick, onFault: (fault) => void faults.push(fault) });
  return () => files.close();
});

const path = 'avatars/1e/0198d3c0-6d5e-7b44-8f0a-3f1f6f0c2a1e.webp';
const id = '0198d3c0-6d5e-7b44-8f0a-3f1f6f0c2a1e';
const object = `/files-of-all/portal/${path}`;
const failing =
  (status: number, code?: string): Answer =>
  (_request, response) =>
    response.writeHead(status).end(code && `<?xml version="1.0"?><Error><Code>${code}</Code></Error>`);
const write = (content: Uint8Array | Readable = Buffer.from('x')) =>
  files.write('avatars', id, 'webp', content, { maxBytes: 100_000_000 });
const failureOf = async (work: Promise<unknown>): Promise<PortalError> => {
  const error: unknown = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(PortalError);
  return error as PortalError;
};

describe('an object store that does not do what it should', () => {
  it.each([
    [500, undefined, 3, 5, 'failed (500)'],
    [503, 'SlowDown', 3, 5, 'asks for fewer calls (SlowDown)'],
    [429, undefined, 3, 5, 'asks for fewer calls (429)'],
    [400, 'BadDigest', 3, 5, 'failed (BadDigest)'],
    [403, 'AccessDenied', 1, 60, 'refuses the keys, or their rights do not suffice (AccessDenied)'],
    [403, 'RequestTimeTooSkewed', 1, 60, 'clocks of this machine and of the store differ (RequestTimeTooSkewed)'],
    [404, 'NoSuchBucket', 1, 60, 'has no such bucket (NoSuchBucket)'],
    [301, 'PermanentRedirect', 1, 60, 'in another region or at another endpoint (PermanentRedirect)'],
    [400, 'InvalidArgument', 1, 5, 'cannot be read (InvalidArgument)'],
    [404, undefined, 1, 5, 'cannot be read (404)'],
  ])('answers %d %s: %d tries, then 503 with a time to wait', async (status, code, tries, wait, sentence) => {
    answer = failing(status, code);
    for (const work of [() => write(), () => files.open(path)]) {
      seen = [];
      const error = await failureOf(work());
      expect(error).toMatchObject({ code: 'UNAVAILABLE', retryAfterSec: wait });
      expect((error.cause as Error).message).toContain(sentence);
      expect(seen).toHaveLength(tries);
      expect(faults.splice(0)).toHaveLength(1);
    }
    expect(await files.remove(path)).toBe(false);
    await failureOf(Array.fromAsync(files.list('avatars')));
    if (status !== 404 || code === 'NoSuchBucket') await failureOf(files.open(path, () => 'none'));
  });

  it('tells nobody its keys', async () => {
    answer = failing(403, 'SignatureDoesNotMatch');
    const error = await failureOf(write());
    await files.remove(path);
    expect(warnings).toHaveLength(1);
    const told = JSON.stringify([
      error.message,
      describeFailure(error),
      warnings.map((each) => describeFailure((each as { err: unknown }).err)),
    ]);
    expect(told).toContain('SignatureDoesNotMatch');
    for (const secret of [key.accessKeyId, key.secretAccessKey.reveal(), 'Signature='])
      expect(told).not.toContain(secret);
  });

  it('is given up after the time of a call, however it is silent', async () => {
    for (const silence of [
      () => undefined,
      (_request: IncomingMessage, response: ServerResponse) => response.writeHead(200).write(''),
    ]) {
      answer = silence;
      const begun = performance.now();
      const error = await failureOf(write());
      expect(performance.now() - begun).toBeLessThan(quick.callMs + 500);
      expect((error.cause as Error).message).toContain('did not answer in time');
    }
  });

  it('is not waited for once the caller has gone', async () => {
    answer = () => undefined;
    const stop = new AbortController();
    const writing = files.write('avatars', id, 'webp', Buffer.from('x'), { maxBytes: 5, signal: stop.signal });
    await expect.poll(() => seen).toHaveLength(1);
    stop.abort();
    await expect(writing).rejects.toThrow(expect.objectContaining({ name: 'AbortError' }));
  });

  it('is asked again after a fault that passes', async () => {
    answer = (request, response, body) =>
      seen.length < 3 ? failing(503, 'SlowDown')(request, response, body) : response.writeHead(200).end();
    expect((await write()).sizeBytes).toBe(1);
    expect(seen).toEqual(Array(3).fill(`PUT ${object}`));
  });

  it('may close an idle connection', async () => {
    answer = (_request, response) => response.writeHead(200, { 'content-length': '1' }).end('x');
    await buffer((await files.open(path))?.stream ?? Readable.from([]));
    answer = (request, response) => {
      if (seen.length === 2) request.socket.destroy();
      else response.writeHead(200, { 'content-length': '1' }).end('y');
    };
    const file = await files.open(path);
    expect(file && (await buffer(file.stream)).toString()).toBe('y');
  });

  it('may send garbage of any size', async () => {
    answer = (_request, response) => response.writeHead(200).end('x'.repeat(9 * 1024 * 1024));
    expect(((await failureOf(Array.fromAsync(files.list('avatars')))).cause as Error).message).toContain(
      'answer too large',
    );
    for (const garbage of ['', 'garbage', '<ListBucketResult><Contents><Key>x</Key></Contents></ListBucketResult>']) {
      answer = (_request, response) => response.writeHead(200).end(garbage);
      expect(((await failureOf(Array.fromAsync(files.list('avatars')))).cause as Error).message).toContain(
        'cannot be read',
      );
    }
    answer = (request) => request.socket.end('no HTTP at all\r\n\r\n');
    expect(((await failureOf(files.open(path))).cause as Error).message).toContain('cannot be read (HPE_');
  });
});

describe('a list of an object store', () => {
  const one = (name: string) =>
    `<Contents><Key>${name}</Key><LastModified>2020-01-01T00:00:00.000Z</LastModified></Contents>`;
  const answering = (...pages: string[]): Answer => {
    let n = 0;
    return (request, response) => {
      if (request.url?.includes('uploads')) return failing(501, 'NotImplemented')(request, response, Buffer.of());
      n += 1;
      return response
        .writeHead(200)
        .end(`<ListBucketResult>${pages[Math.min(n, pages.length) - 1]}</ListBucketResult>`);
    };
  };

  it('has the files of its folder alone, with any answer of the store', async () => {
    const image = path.replace('avatars', 'images');
    answer = answering(
      [`portal/${path}`, `portal/${image}`, `other/${path}`, path, 'portal/avatars/loose', '../x'].map(one).join(''),
    );
    expect(await Array.fromAsync(files.list('avatars'))).toEqual([path]);
    expect(faults).toEqual([]);
  });

  // s3rver cannot make a second page.
  it('has the files of all its pages', async () => {
    const other = path.replace('0198', '0199');
    answer = answering(
      `<IsTruncated>true</IsTruncated><NextContinuationToken>a+b/=&amp;</NextContinuationToken>${one(`portal/${path}`)}`,
      `<IsTruncated>false</IsTruncated>${one(`portal/${other}`)}`,
    );
    expect(await Array.fromAsync(files.list('avatars'))).toEqual([path, other]);
    expect(seen[1]).toContain('&continuation-token=a+b/=&');
  });

  it.each([
    ['has no next page', ['<IsTruncated>true</IsTruncated>']],
    ['never ends', ['<IsTruncated>true</IsTruncated><NextContinuationToken>again</NextContinuationToken>']],
  ])('that %s is no list', async (_what, pages) => {
    answer = answering(...pages);
    expect(((await failureOf(Array.fromAsync(files.list('avatars')))).cause as Error).message).toContain(
      'no next page',
    );
  });
});

describe('a call of an object store', () => {
  it('carries the hashes of its body, and a signature that covers them', async () => {
    let headers: IncomingMessage['headers'] = {};
    answer = (request, response) => {
      ({ headers } = request);
      response.writeHead(200).end();
    };
    await write(Buffer.from('hello'));
    expect(headers).toMatchObject({
      'content-length': '5',
      'content-md5': 'XUFAKrxLKna5cZ2REBfFkg==',
      'x-amz-content-sha256': '2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824',
    });
    expect(headers.authorization).toMatch(
      /SignedHeaders=content-length;content-md5;content-type;host;x-amz-content-sha256;x-amz-date,/,
    );
  });

  it('that looks at the size opens no body', async () => {
    answer = (_request, response) => response.writeHead(200, { 'content-length': '5' }).end();
    expect((await files.open(path, () => 'none'))?.sizeBytes).toBe(5);
    expect(seen).toEqual([`HEAD ${object}`]);
  });
});

describe('a download from an object store', () => {
  const reading = async () => {
    const file = await files.open(path);
    return file && buffer(file.stream);
  };

  it('that the store cuts fails, and so does one that it stalls', async () => {
    answer = (_request, response) => {
      response.writeHead(200, { 'content-length': '200000' }).write(Buffer.alloc(100_000));
      setTimeout(() => response.destroy(), 50);
    };
    expect(await failureOf(reading())).toMatchObject({ code: 'UNAVAILABLE' });
    answer = (_request, response) =>
      void response.writeHead(200, { 'content-length': '200000' }).write(Buffer.alloc(100_000));
    const error = await failureOf(reading());
    expect(describeFailure(error).cause?.cause?.message).toBe('nothing moved for 200 ms');
  });

  it('without a length, or with that of another part, is refused', async () => {
    answer = (_request, response) => response.writeHead(200).end('hello');
    expect(((await failureOf(files.open(path))).cause as Error).message).toContain('no Content-Length');
    answer = (_request, response) => response.writeHead(200, { 'content-length': '5' }).end('hello');
    expect(((await failureOf(files.open(path, () => ({ start: 1, end: 2 })))).cause as Error).message).toContain(
      'another range',
    );
  });

  it('holds a few blocks in memory while its reader rests, and ends if it rests for too long', async () => {
    let sent = 0;
    let isClosed = false;
    const block = Buffer.alloc(64 * 1024);
    answer = (_request, response) => {
      response.writeHead(200, { 'content-length': String(1_000 * block.length) });
      response.on('close', () => (isClosed = true));
      Readable.from(
        (function* () {
          for (; sent < 1_000; sent += 1) yield block;
        })(),
      ).pipe(response);
    };
    const file = await files.open(path);
    file?.stream.once('readable', () => file.stream.read(1));
    await expect.poll(() => isClosed, { timeout: 5_000 }).toBe(true);
    // What fits into the buffers of both sockets.
    expect(sent).toBeLessThan(400);
    file?.stream.destroy();
  });

  it('has the memory of its pieces back once their receiver is done with them', async () => {
    const content = randomBytes(1_000_000);
    answer = (_request, response) => response.writeHead(200, { 'content-length': content.length }).end(content);
    for (const isDone of [true, false]) {
      const stream = (await files.open(path))?.stream as FileStream;
      stream.reclaimMemory(() => isDone);
      const pieces: Buffer[] = [];
      const copies: Buffer[] = [];
      for await (const piece of stream as AsyncIterable<Buffer>) {
        pieces.push(piece);
        copies.push(Buffer.from(piece));
      }
      expect(Buffer.concat(copies).equals(content)).toBe(true);
      expect(pieces.slice(0, -1).filter(({ buffer: { byteLength } }) => (byteLength === 0) !== isDone)).toEqual([]);
    }
  });
});

describe('an upload in parts', () => {
  const MiB = 1024 * 1024;
  const begun = '<InitiateMultipartUploadResult><UploadId>upload 1/+</UploadId></InitiateMultipartUploadResult>';
  let size = 0;
  let completion: Answer;
  const store: Answer = (request, response, body) => {
    const { searchParams } = new URL(request.url ?? '', 'http://store');
    if (request.method === 'HEAD') return response.writeHead(size > 0 ? 200 : 404, { 'content-length': size }).end();
    if (searchParams.has('uploads')) return response.writeHead(200).end(begun);
    if (request.method === 'PUT')
      return response.writeHead(200, { etag: `"${searchParams.get('partNumber')}-${body.length}"` }).end();
    if (request.method === 'POST') return completion(request, response, body);
    return response.writeHead(request.method === 'DELETE' ? 204 : 404).end('<Code>NoSuchKey</Code>');
  };
  const upload = () => write(Readable.from([Buffer.alloc(9 * MiB)]));
  beforeEach(() => {
    answer = store;
    size = 9 * MiB;
    completion = (_request, response) => response.writeHead(200).end('<CompleteMultipartUploadResult/>');
  });

  it('ends with all its parts under the name of the object', async () => {
    let completed = '';
    completion = (_request, response, body) => {
      completed = body.toString();
      response.writeHead(200).end('<CompleteMultipartUploadResult/>');
    };
    expect((await upload()).sizeBytes).toBe(9 * MiB);
    expect(seen).toEqual([
      `POST ${object}?uploads=`,
      `PUT ${object}?partNumber=1&uploadId=upload 1/+`,
      `PUT ${object}?partNumber=2&uploadId=upload 1/+`,
      `POST ${object}?uploadId=upload 1/+`,
      `HEAD ${object}`,
    ]);
    expect(completed).toBe(
      `<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>"1-${8 * MiB}"</ETag></Part><Part><PartNumber>2</PartNumber><ETag>"2-${MiB}"</ETag></Part></CompleteMultipartUpload>`,
    );
  });

  it('is done if the answer to its completion was lost', async () => {
    completion = (request, response) => {
      completion = failing(404, 'NoSuchUpload');
      request.socket.destroy();
      response.destroy();
    };
    expect((await upload()).sizeBytes).toBe(9 * MiB);
  });

  it('that the store cannot complete is ended, with any status', async () => {
    completion = failing(200, 'InternalError');
    expect(((await failureOf(upload())).cause as Error).message).toContain('failed (InternalError)');
    expect(seen.at(-1)).toBe(`DELETE ${object}?uploadId=upload 1/+`);
    completion = failing(404, 'NoSuchUpload');
    size = 0;
    expect(((await failureOf(upload())).cause as Error).message).toContain('no bytes');
    expect(seen.at(-1)).toBe(`DELETE ${object}?uploadId=upload 1/+`);
  });

  it('of a killed writer is listed after an hour of the store’s clock, over many pages, and ended by the sweep', async () => {
    // The store's clock is a day behind ours.
    const now = Date.now() - 86_400_000;
    const one = (uploadId: string, minutes: number, of = `portal/${path}`) =>
      `<Upload><Key>${of}</Key><UploadId>${uploadId}</UploadId><Initiated>${new Date(now - minutes * 60_000).toISOString()}</Initiated></Upload>`;
    answer = (request, response) => {
      const { searchParams } = new URL(request.url ?? '', 'http://store');
      response.setHeader('date', new Date(now).toUTCString());
      if (request.method === 'DELETE') return response.writeHead(204).end();
      if (!searchParams.has('uploads'))
        return response.writeHead(200).end(`<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>`);
      const isFirst = !searchParams.has('key-marker');
      return response
        .writeHead(200)
        .end(
          isFirst
            ? `<ListMultipartUploadsResult><IsTruncated>true</IsTruncated><NextKeyMarker>k</NextKeyMarker><NextUploadIdMarker>u</NextUploadIdMarker>${one('young', 59)}${one('a b/+=', 61)}${one('of another', 99, 'portal/avatars/loose')}</ListMultipartUploadsResult>`
            : `<ListMultipartUploadsResult><IsTruncated>false</IsTruncated>${one('second', 99)}</ListMultipartUploadsResult>`,
        );
    };
    const left = await Array.fromAsync(files.list('avatars'));
    expect(left).toHaveLength(2);
    for (const each of left) {
      expect(await files.open(each)).toBeNull();
      expect(await files.remove(each)).toBe(true);
    }
    expect(seen.filter((call) => call.startsWith('DELETE'))).toEqual([
      `DELETE ${object}?uploadId=a b/+=`,
      `DELETE ${object}?uploadId=second`,
    ]);
  });
});

it('works at an endpoint with a path, and without a prefix', async () => {
  answer = (_request, response) => response.writeHead(200).end();
  const below = openObjectStore(
    { ...settings, endpoint: new URL(`${server.origin}/storage/s3/`), prefix: '' },
    console,
  );
  await below.write('avatars', id, 'webp', Buffer.from('x'), { maxBytes: 1 });
  expect(seen).toEqual([`PUT /storage/s3/files-of-all/${path}`]);
  await below.close();
});

it('goes on once a store that was away is back', async () => {
  const store = openObjectStore(real.settings(), console);
  const stored = await store.write('avatars', newId(), 'webp', Buffer.from('hello'), { maxBytes: 5 });
  await real.halt();
  expect(((await failureOf(store.open(stored.path))).cause as Error).message).toContain('cannot be reached');
  await real.resume();
  const file = await store.open(stored.path);
  expect(file && (await buffer(file.stream)).toString()).toBe('hello');
  await store.close();
});
