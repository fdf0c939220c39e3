import { z } from 'zod';
import { open } from '@portal/domain/access';
import { DesktopLatest, DesktopUpdate } from '@portal/domain/desktop/packages';
import { findUpdate, latestPackages, openPackage } from '@portal/usecases/desktop/packages';
import { sendFile } from '../files.ts';
import { type App, NoContent } from '../zod-app.ts';

const tags = ['desktop'];
const access = open('an app is installed and updated before anybody signs in');

/** The packages of the desktop app. */
export function registerDesktop(app: App): void {
  app.get(
    '/desktop/latest',
    {
      config: { access, errors: { 404: ['NOT_FOUND'] } },
      schema: {
        operationId: 'getLatestDesktop',
        tags,
        summary: 'The current release of the desktop app',
        description:
          'Its packages by platform, as far as their files are there whole. 404 while the service offers no desktop app.',
        response: { 200: DesktopLatest },
      },
    },
    (request) => latestPackages(request.system),
  );

  app.get(
    '/desktop/download/:platform',
    {
      config: { access, errors: { 404: ['NOT_FOUND'], 416: ['RANGE_NOT_SATISFIABLE'] } },
      schema: {
        operationId: 'downloadDesktop',
        tags,
        summary: 'Download the package for a platform',
        description:
          'Whole, or a part with `Range`. The entity tag is the SHA-256 of the whole file: a download that broke off goes on with `If-Range`, and starts anew when the file has become another one.',
        params: z.object({ platform: z.string() }),
        produces: ['application/octet-stream'],
        response: { 200: z.any().describe('The package'), 206: z.any().describe('The part of it that was asked for') },
      },
    },
    async (request, reply) => {
      const { fileName, sha256, open: openFile } = await openPackage(request.system, request.params.platform);
      const type = 'application/octet-stream';
      return sendFile(request, reply, { type, tag: sha256, saveAs: fileName, inParts: true }, openFile);
    },
  );

  app.get(
    '/desktop/update',
    {
      config: { access, errors: { 400: ['INVALID_ORIGIN'], 404: ['NOT_FOUND'] } },
      schema: {
        operationId: 'getDesktopUpdate',
        tags,
        summary: 'What an installed desktop app may update itself to',
        description:
          'The newer release, or 204 when there is none for the caller: unknown system, processor or version, a package without signature, or a version that is not above the caller’s. 404 without a usable manifest or package. The link to the package begins with `origin`, which is https, or http on the caller’s own machine.',
        querystring: z.object({
          target: z.string().describe('`windows`, `darwin` or `linux`'),
          arch: z.string().describe('`x86_64` or `aarch64`'),
          current_version: z.string().describe('The version that asks'),
          origin: z.string().optional().describe('Where the caller reaches the service; without it the public address'),
        }),
        response: { 200: DesktopUpdate, 204: NoContent },
      },
    },
    async (request, reply) => {
      const update = await findUpdate(request.system, request.query);
      return update ?? reply.code(204).send();
    },
  );
}
