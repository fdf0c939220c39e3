import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Secret } from '@portal/domain/secret';
import type { ObjectStoreSettings } from '@portal/platform/files/object-store-calls';
import { freePort, isAccepting } from './private-process.ts';

// The server knows this account alone.
const accessKeyId = 'S3RVER';
const secretAccessKey = 'S3RVER';
const bucket = 'portal-files';

export interface TestObjectStore {
  /** Settings for a new, empty prefix of the bucket. */
  settings(prefix?: string): ObjectStoreSettings;
  /** The same as environment variables. */
  env(prefix?: string): Record<string, string>;
  /** Keys of all whole objects below a prefix. */
  keys(prefix: string): Promise<string[]>;
  /** Sets the time at which an object was last written. */
  touch(key: string, time: Date): Promise<void>;
  /** Uploads in parts that are neither completed nor ended. */
  uploads(): Promise<string[]>;
  /** Kills the server; its objects stay. */
  halt(): Promise<void>;
  /** Starts it again on the same port. */
  resume(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts s3rver, an S3-compatible server, as a private process on 127.0.0.1 with one bucket. */
export async function startObjectStore(): Promise<TestObjectStore> {
  const folder = await mkdtemp(join(tmpdir(), 'portal-test-objects-'));
  const port = await freePort();
  let server: ChildProcess | null = null;
  let prefixes = 0;

  async function resume(): Promise<void> {
    const options = { address: '127.0.0.1', port, directory: folder, silent: true, vhostBuckets: false };
    server = spawn(
      process.execPath,
      [
        '--input-type=module',
        '--eval',
        program,
        import.meta.resolve('@20minutes/s3rver'),
        JSON.stringify({ ...options, configureBuckets: [{ name: bucket }] }),
      ],
      { stdio: ['ignore', 'ignore', 'inherit'] },
    );
    if (!(await isAccepting(server, port))) throw new Error('s3rver did not start');
  }

  async function halt(): Promise<void> {
    const running = server;
    server = null;
    if (!running || running.exitCode !== null || running.signalCode !== null) return;
    running.kill('SIGKILL');
    await once(running, 'exit');
  }

  const freshPrefix = () => `run-${(prefixes += 1)}/files`;
  const placeOf = (key: string) => join(folder, bucket, `${key}${objectSuffix}`);
  await mkdir(join(folder, bucket));
  await resume();
  return {
    settings: (prefix = freshPrefix()) => ({
      endpoint: new URL(`http://127.0.0.1:${port}`),
      region: 'us-east-1',
      bucket,
      prefix: `${prefix}/`,
      accessKeyId,
      secretAccessKey: new Secret(secretAccessKey),
    }),
    env: (prefix = freshPrefix()) => ({
      FILES_URL: `s3://${bucket}/${prefix}?endpoint=http://127.0.0.1:${port}`,
      S3_ACCESS_KEY_ID: accessKeyId,
      S3_SECRET_ACCESS_KEY: secretAccessKey,
    }),
    async keys(prefix) {
      const entries = await readdir(join(folder, bucket), { recursive: true });
      return entries
        .filter((name) => name.startsWith(prefix) && name.endsWith(objectSuffix))
        .map((name) => name.slice(0, -objectSuffix.length))
        .toSorted();
    },
    touch: (key, time) => utimes(placeOf(key), time, time),
    uploads: () => readdir(join(folder, bucket, uploadsFolder)).catch(() => []),
    halt,
    resume,
    async stop() {
      await halt();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

// How s3rver names its files.
const objectSuffix = '._S3rver_object';
const uploadsFolder = '._S3rver_uploads';

// s3rver has no call that ends an upload in parts, so this adds it.
const program = `
  import { rm } from 'node:fs/promises';
  import { join } from 'node:path';
  const { default: S3rver } = await import(process.argv[1]);
  const options = JSON.parse(process.argv[2]);
  const server = new S3rver(options);
  server.middleware.unshift(async (ctx, next) => {
    const { uploadId } = ctx.query;
    if (ctx.method !== 'DELETE' || uploadId === undefined) return next();
    const name = uploadId.replaceAll(/[^0-9a-f]/g, '-');
    await rm(join(options.directory, '${bucket}', '${uploadsFolder}', name), { recursive: true, force: true });
    ctx.status = 204;
  });
  await server.run();
`;
