import { Readable } from 'node:stream';
import { isDeepStrictEqual } from 'node:util';
import { XMLParser } from 'fast-xml-parser';
import { z } from 'zod';
import { GatheredBytes } from '@portal/domain/gathered-bytes';
import type { Log } from '../log.ts';
import { openSemaphore } from '../semaphore.ts';
import {
  type ObjectStoreOptions,
  openObjectStoreCalls,
  type ObjectStoreSettings,
  type StoreAnswer,
} from './object-store-calls.ts';
import { ObjectStoreError, storeUnavailable } from './object-store-error.ts';
import type { OpenedFile, Part } from './opened-file.ts';
import { type FileStore, minOrphanAgeMs } from './store.ts';
import { isStoredPath, pathOf, readUnfinishedPath, unfinishedPathOf } from './stored-path.ts';
import { chunksOf, tooLargeFile, withContent, type WriteLimits } from './write-then-rename.ts';

/** Stores ask for at least 5 MiB and at most 10,000 parts, and some for parts of one size. */
const partBytes = 8 * 1024 * 1024;
const maxParts = 10_000;
/** Streams that are written at a time, each with one part in memory. */
const maxStreams = 6;

/**
 * The store of files in a bucket, under the same paths as in a folder. An object appears under its name when all of it is there: one PUT, or
 * for more than 8 MiB an upload in parts that ends with its completion. So no file lies on this machine's disk meanwhile.
 */
export function openObjectStore(
  settings: ObjectStoreSettings,
  log: Pick<Log, 'warn'>,
  options: ObjectStoreOptions = {},
): FileStore {
  const calls = openObjectStoreCalls(settings, options);
  const { host } = settings.endpoint;
  const keyOf = (path: string) => `${settings.prefix}${path}`;
  const inSlot = openSemaphore({
    slots: maxStreams,
    refusal: () => storeUnavailable(new ObjectStoreError('overloaded', 'writing a stream', 'of this process')),
  });

  const put = (path: string, body: Uint8Array, signal: AbortSignal | undefined) =>
    calls.ask({ operation: 'writing an object', method: 'PUT', key: keyOf(path), headers: octets, body, signal });

  /** Writes a stream of any length; returns its size. */
  async function putStream(path: string, chunks: AsyncIterable<Uint8Array>, { maxBytes, signal }: WriteLimits) {
    const most = Math.min(maxBytes, partBytes * maxParts);
    const part = new GatheredBytes();
    let upload: Upload | null = null;
    let sizeBytes = 0;
    try {
      // Leaving the loop early closes the stream.
      for await (const chunk of chunks) {
        sizeBytes += chunk.length;
        if (sizeBytes > most) throw tooLargeFile(most);
        let rest = chunk;
        while (rest.length > 0) {
          // A full part leaves only when more follows: most files are one part, and need no upload in parts.
          if (part.length === partBytes) {
            upload ??= await begin(path, signal);
            await upload.add(part.take());
          }
          const room = partBytes - part.length;
          part.add(rest.subarray(0, room), partBytes);
          rest = rest.subarray(room);
        }
      }
      if (upload === null) await put(path, part.take(), signal);
      else {
        await upload.add(part.take());
        await upload.complete(sizeBytes);
      }
      return sizeBytes;
    } catch (error) {
      await upload?.abort();
      throw error;
    }
  }

  interface Upload {
    add(body: Uint8Array): Promise<void>;
    complete(sizeBytes: number): Promise<void>;
    abort(): Promise<void>;
  }

  async function begin(path: string, signal: AbortSignal | undefined): Promise<Upload> {
    const key = keyOf(path);
    const operation = 'writing an object in parts';
    const begun = await calls.ask({ operation, method: 'POST', key, query: { uploads: '' }, headers: octets, signal });
    const { uploadId } = read(begun, Begun, operation).InitiateMultipartUploadResult;
    const parts: string[] = [];
    return {
      async add(body) {
        const query = { partNumber: String(parts.length + 1), uploadId };
        const answer = await calls.ask({ operation, method: 'PUT', key, query, body, signal });
        const etag = answer?.headers.etag;
        if (etag === undefined || !/^"?[\w-]{1,200}"?$/.test(etag))
          throw new ObjectStoreError('malformed', operation, host, 'no ETag');
        parts.push(`<Part><PartNumber>${parts.length + 1}</PartNumber><ETag>${etag}</ETag></Part>`);
      },
      async complete(sizeBytes) {
        const body = Buffer.from(`<CompleteMultipartUpload>${parts.join('')}</CompleteMultipartUpload>`);
        // Null after a try whose answer was lost: the upload is no more, because it became the object.
        await calls.ask({ operation, method: 'POST', key, query: { uploadId }, headers: xml, body, signal });
        const size = await sizeOf(path);
        if (size !== sizeBytes) throw new ObjectStoreError('malformed', operation, host, `${size ?? 'no'} bytes`);
      },
      abort: () => abort(path, uploadId).then(() => undefined),
    };
  }

  /** False if the store refuses; the sweep then finds the upload. */
  const abort = (path: string, uploadId: string): Promise<boolean> =>
    removed({ operation: 'ending an upload', method: 'DELETE', key: keyOf(path), query: { uploadId } });

  async function removed(call: Parameters<typeof calls.ask>[0]): Promise<boolean> {
    try {
      await calls.ask(call);
      return true;
    } catch (error) {
      log.warn({ err: error }, 'the object store did not remove a file; the sweep tries again');
      return false;
    }
  }

  async function sizeOf(path: string): Promise<number | null> {
    const answer = await calls.ask({ operation: 'looking at an object', method: 'HEAD', key: keyOf(path) });
    if (answer !== null) return lengthOf(answer);
    // The answer to HEAD does not tell whether the object is absent or the bucket; this one does, and is rare.
    const opened = await get(path, null);
    opened?.stream.destroy();
    return opened?.length ?? null;
  }

  function lengthOf({ headers }: StoreAnswer): number {
    const length = Number(headers['content-length'] ?? 'none');
    if (Number.isSafeInteger(length)) return length;
    throw new ObjectStoreError('malformed', 'looking at an object', host, 'no Content-Length');
  }

  async function get(path: string, part: Part | null) {
    const operation = 'reading an object';
    const headers = part === null ? {} : { range: `bytes=${part.start}-${part.end}` };
    const opened = await calls.stream({ operation, method: 'GET', key: keyOf(path), headers });
    if (opened === null || part === null || opened.length === part.end - part.start + 1) return opened;
    opened.stream.destroy();
    throw new ObjectStoreError('malformed', operation, host, 'another range');
  }

  /** The pages of a list, each with the time of the store's clock. `next` tells where the following page begins; null after the last. */
  async function* pages<T>(
    query: Record<string, string>,
    schema: z.ZodType<T>,
    next: (page: T) => Record<string, string | undefined> | null,
  ) {
    const operation = 'listing objects';
    for (let from: Record<string, string> | null = {}; from !== null;) {
      const answer = await calls.ask({ operation, method: 'GET', query: { ...query, ...from } });
      const page = read(answer, schema, operation);
      yield { page, now: answer?.sentAt ?? Date.now() };
      const marks: Record<string, string | undefined> | null = next(page);
      // A list that ends early or never would mislead a copy.
      if (marks !== null && (!isComplete(marks) || isDeepStrictEqual(marks, from)))
        throw new ObjectStoreError('malformed', operation, host, 'no next page');
      from = marks as Record<string, string> | null;
    }
  }

  async function* listObjects(prefix: string, minAgeMs: number) {
    const query = { 'list-type': '2', prefix, 'max-keys': '1000' };
    const next = ({ ListBucketResult: { IsTruncated, NextContinuationToken } }: z.infer<typeof Objects>) =>
      IsTruncated === 'true' ? { 'continuation-token': NextContinuationToken } : null;
    for await (const { page, now } of pages(query, Objects, next))
      for (const { Key, LastModified } of page.ListBucketResult.Contents)
        // A store that ignored the prefix would have files of other folders swept.
        if (Key.startsWith(prefix) && isOldEnough(LastModified, now, minAgeMs)) yield Key.slice(settings.prefix.length);
  }

  async function* listUploads(prefix: string, minAgeMs: number) {
    const query = { uploads: '', prefix, 'max-uploads': '1000' };
    const next = ({ ListMultipartUploadsResult: result }: z.infer<typeof Uploads>) =>
      result.IsTruncated === 'true'
        ? { 'key-marker': result.NextKeyMarker, 'upload-id-marker': result.NextUploadIdMarker }
        : null;
    try {
      for await (const { page, now } of pages(query, Uploads, next))
        for (const { Key, UploadId, Initiated } of page.ListMultipartUploadsResult.Upload)
          if (Key.startsWith(prefix) && isOldEnough(Initiated, now, minAgeMs)) {
            const writer = Buffer.from(UploadId).toString('base64url');
            yield unfinishedPathOf(Key.slice(settings.prefix.length), writer);
          }
    } catch (error) {
      // Such a store removes them by a rule of its own.
      if (!(error instanceof ObjectStoreError && error.fault === 'unsupported')) throw error;
    }
  }

  function read<T>(answer: StoreAnswer | null, schema: z.ZodType<T>, operation: string): T {
    try {
      return schema.parse(parser.parse(Buffer.from(answer?.body ?? []).toString()));
    } catch (error) {
      throw new ObjectStoreError('malformed', operation, host, '', error);
    }
  }

  return {
    write: (folder, id, extension, content, limits) =>
      withContent(content, async () => {
        const path = pathOf(folder, id, extension);
        const { maxBytes, signal } = limits;
        signal?.throwIfAborted();
        if (content instanceof Readable) {
          const work = () => asUnavailable(() => putStream(path, chunksOf(content, signal), limits));
          return { path, sizeBytes: await inSlot(work, signal ? { signal } : {}) };
        }
        if (content.length > maxBytes) throw tooLargeFile(maxBytes);
        await asUnavailable(() => put(path, content, signal));
        return { path, sizeBytes: content.length };
      }),

    open: (path, partOf) =>
      asUnavailable(async (): Promise<OpenedFile | null> => {
        if (!isStoredPath(path)) return null;
        const sizeBytes = partOf ? await sizeOf(path) : null;
        if (partOf && sizeBytes === null) return null;
        const part = sizeBytes === null || !partOf ? null : partOf(sizeBytes);
        if (part === 'none') return { stream: Readable.from([]), sizeBytes: sizeBytes ?? 0, part: null };
        const opened = await get(path, part);
        return opened && { stream: opened.stream, sizeBytes: sizeBytes ?? opened.length, part };
      }),

    async remove(path) {
      const left = readUnfinishedPath(path);
      if (left) return abort(left.path, Buffer.from(left.writer, 'base64url').toString());
      if (!isStoredPath(path)) return true;
      return removed({ operation: 'removing an object', method: 'DELETE', key: keyOf(path) });
    },

    async *list(folder, minAgeMs = minOrphanAgeMs) {
      const prefix = keyOf(`${folder}/`);
      try {
        for await (const path of listObjects(prefix, minAgeMs)) if (isStoredPath(path)) yield path;
        for await (const path of listUploads(prefix, minAgeMs)) if (readUnfinishedPath(path)) yield path;
      } catch (error) {
        throw error instanceof ObjectStoreError ? storeUnavailable(error) : error;
      }
    },

    close: async () => calls.close(),
  };
}

// The store tells the time in whole seconds, so a file of this second may seem to be of the future.
const isOldEnough = (time: string, now: number, minAgeMs: number): boolean =>
  minAgeMs === 0 || now - Date.parse(time) > minAgeMs;

const isComplete = (marks: Record<string, string | undefined>): boolean =>
  Object.values(marks).every((mark) => mark !== undefined);

const octets = { 'content-type': 'application/octet-stream' };
const xml = { 'content-type': 'application/xml' };

async function asUnavailable<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof ObjectStoreError ? storeUnavailable(error) : error;
  }
}

// Every value stays text.
const parser = new XMLParser({
  parseTagValue: false,
  isArray: (name) => name === 'Contents' || name === 'Upload',
});

const text = z.string().max(2_000);
const time = text.refine((value) => !Number.isNaN(Date.parse(value)));

const Begun = z.object({
  InitiateMultipartUploadResult: z
    .object({ UploadId: text.min(1).max(1_000) })
    .transform(({ UploadId }) => ({ uploadId: UploadId })),
});
const Objects = z.object({
  ListBucketResult: z.object({
    IsTruncated: text.optional(),
    NextContinuationToken: text.optional(),
    Contents: z.array(z.object({ Key: text, LastModified: time })).default([]),
  }),
});
const Uploads = z.object({
  ListMultipartUploadsResult: z.object({
    IsTruncated: text.optional(),
    NextKeyMarker: text.optional(),
    NextUploadIdMarker: text.optional(),
    Upload: z.array(z.object({ Key: text, UploadId: text.min(1).max(1_000), Initiated: time })).default([]),
  }),
});
