import { z } from 'zod';
import { needs } from '@portal/domain/access';
import { CloudInstance, logoMaxBytes } from '@portal/domain/cloud-status/instances';
import { getLogo, openLogo, removeLogo, uploadLogo } from '@portal/usecases/cloud-status/logo';
import { fileTag, sendFile, sendStored } from '../files.ts';
import { acceptForms, FileForm, readForm } from '../uploads.ts';
import { type App, ById, NoContent } from '../zod-app.ts';

const tags = ['cloud-status'];
const use = needs('cloud-status', 'USE');
const manage = needs('cloud-status', 'MANAGE');

export function registerCloudLogos(app: App): void {
  acceptForms(app, (scope) => {
    scope.post(
      '/cloud-status/instances/:id/logo',
      {
        config: { access: manage, errors: { 400: ['UNSUPPORTED_IMAGE'] } },
        schema: {
          operationId: 'uploadLogo',
          tags,
          summary: 'Upload the logo of a cloud instance',
          description:
            'Multipart with one file in the field `logo`: a PNG, JPEG, GIF, WebP or SVG image (checked by content) of at most 1 MiB and 4,096 pixels per side. Everything that does not draw is removed from an SVG. Replaces the previous logo.',
          params: ById,
          body: FileForm('logo', logoMaxBytes),
          response: { 200: CloudInstance },
        },
      },
      async (request) => uploadLogo(request.ctx, request.params.id, async () => (await readForm(request)).logo.bytes),
    );
  });

  app.get(
    '/cloud-status/instances/:id/logo',
    {
      config: { access: use },
      schema: {
        operationId: 'getLogo',
        tags,
        summary: 'Get the logo of a cloud instance',
        description:
          'Answers 404 if the instance has no logo. With the `ETag` in `If-None-Match` the answer is 304 if the logo has not changed. An SVG contains nothing that can be executed.',
        params: ById,
        produces: ['image/png', 'image/jpeg', 'image/gif', 'image/webp', 'image/svg+xml'],
        response: { 200: z.any().describe('The logo'), 304: NoContent },
      },
    },
    (request, reply) =>
      sendStored(async () => {
        const logo = await getLogo(request.ctx, request.params.id);
        reply.header('cache-control', 'private, no-cache');
        return sendFile(request, reply, { type: logo.type, tag: fileTag(logo.path) }, (partOf) =>
          openLogo(request.ctx, logo, partOf),
        );
      }),
  );

  app.delete(
    '/cloud-status/instances/:id/logo',
    {
      config: { access: manage },
      schema: {
        operationId: 'removeLogo',
        tags,
        summary: 'Remove the logo of a cloud instance',
        description: 'Succeeds even if the instance has no logo.',
        params: ById,
        response: { 204: NoContent },
      },
    },
    (request) => removeLogo(request.ctx, request.params.id),
  );
}
