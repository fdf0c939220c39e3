import { z } from 'zod';
import { open } from '@portal/domain/access';
import { DesktopLatest, DesktopUpdate } from '@portal/domain/desktop/packages';
import { findUpdate, latestPackages, openPackage } from '@portal/usecases/desktop/packages';
import { sendFile } from '../files.ts';
import { type App, NoContent } from '../zod-app.ts';

const tags = ['desktop'];
const access = open('users install and update the app before they sign in');

/** The packages of the desktop app. */
export function registerDesktop(app: App): void {
  app.get(
    '/desktop/latest',
    {
      config: { access, errors: { 404: ['NOT_FOUND'] } },
      schema: {
        operationId: 'getLatestDesktop',
        tags,
        summary: 'Get the current release of the desktop app',
        description:
          'Lists the packages whose files are complete, by platform. 404 if the service offers no desktop app.',
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
          'Returns the whole file, or a part of it with `Range`. The entity tag is the SHA-256 of the whole file: with `If-Range` an interrupted download continues, or starts again if the file has changed.',
        params: z.object({ platform: z.string() }),
        produces: ['application/octet-stream'],
        response: { 200: z.any().describe('The package'), 206: z.any().describe('The requested part of the package') },
      },
    },
    async (request, reply) => {
      const { fileName, sha256, open: openFile } = await openPackage(request.system, request.params.platform);
      const type = 'application/octet-stream';
      return sendFile(request, reply, { type, tag: sha256, saveAs: fileName, acceptsRanges: true }, openFile);
    },
  );

  app.get(
    '/desktop/update',
    {
      config: { access, errors: { 400: ['INVALID_ORIGIN'], 404: ['NOT_FOUND'] } },
      schema: {
        operationId: 'getDesktopUpdate',
        tags,
        summary: 'Check for an update of an installed desktop app',
        description:
          'Returns the newer release. 204 if there is no update for the caller: the system, processor or version is unknown, the package has no signature, or its version is not above the caller’s. 404 without a usable manifest or package. The link to the package begins with `origin`, which must be https, or http on the caller’s own machine.',
        querystring: z.object({
          target: z.string().describe('`windows`, `darwin` or `linux`'),
          arch: z.string().describe('`x86_64` or `aarch64`'),
          current_version: z.string().describe('The installed version'),
          origin: z
            .string()
            .optional()
            .describe('Origin at which the caller reaches the service; default is the public address'),
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
