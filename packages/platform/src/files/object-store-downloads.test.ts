import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type RequestListener } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { newId } from '@portal/domain/ids';
import { Secret } from '@portal/domain/secret';
import { startHttpServer } from '@portal/testing/servers/http-server';
import { serverCertificatePem, serverKeyPem, trustTestAuthority } from '@portal/testing/servers/tls';
import { openObjectStore } from './object-store.ts';
import type { FileStream } from './opened-file.ts';
import { pathOf } from './stored-path.ts';

trustTestAuthority();
const settings = {
  region: 'eu-central-1',
  bucket: 'files',
  prefix: '',
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: new Secret('the-secret-key'),
};

it.each(['http', 'https'] as const)(
  'downloads from an object store by %s reach several slow receivers unchanged',
  async (protocol) => {
    const contents = new Map(Array.from({ length: 8 }, () => [newId(), randomBytes(1_500_000)]));
    const nameIn = (url = '') => /[\w-]{36}/.exec(url)?.[0] ?? '';
    const send: RequestListener = ({ url }, response) => {
      const content = contents.get(nameIn(url));
      response.writeHead(200, { 'content-length': content?.length }).end(content);
    };
    const certificate = { key: serverKeyPem, cert: serverCertificatePem('localhost') };
    const origin = protocol === 'http' ? createServer(send) : createHttpsServer(certificate, send);
    await once(origin.listen(0, 'localhost'), 'listening');
    const endpoint = new URL(`${protocol}://localhost:${(origin.address() as AddressInfo).port}`);
    const store = openObjectStore({ ...settings, endpoint }, { warn: () => undefined });
    const portal = await startHttpServer((request, response) => {
      void store.open(pathOf('avatars', nameIn(request.url), 'webp')).then((file) => {
        const stream = file?.stream as FileStream;
        stream.reclaimMemory(() => response.writableLength === 0);
        stream.pipe(response);
      });
    });
    onTestFinished(async () => {
      await Promise.all([store.close(), portal.close()]);
      origin.close();
    });
    const slowly = async (name: string): Promise<Buffer> => {
      const [response] = (await once(get(`${portal.origin}/${name}`), 'response')) as [IncomingMessage];
      const pieces: Buffer[] = [];
      for await (const piece of response as AsyncIterable<Buffer>) {
        pieces.push(piece);
        if (pieces.length % 5 === 0) await pause(5);
      }
      return Buffer.concat(pieces);
    };
    const received = await Promise.all([...contents.keys()].map(slowly));
    const isSame = [...contents.values()].map((content, n) => received[n]?.equals(content));
    expect(isSame).toEqual(Array.from(contents, () => true));
  },
);
