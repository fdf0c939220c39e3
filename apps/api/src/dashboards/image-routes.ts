import { z } from 'zod';
import { signedIn } from '@portal/domain/access';
import { DashboardImage, imageMaxBytes } from '@portal/domain/dashboards/tabs';
import { PathId } from '@portal/domain/ids';
import { addImage, deleteImage, listImages, openImage } from '@portal/usecases/dashboards/images';
import { sendFile } from '../files.ts';
import { acceptForms, FileForm, readForm } from '../uploads.ts';
import { type App, NoContent } from '../zod-app.ts';

const tags = ['dashboards'];
const access = signedIn;

/** The own pictures, for picture frames and backgrounds. */
export function registerDashboardImages(app: App): void {
  app.get(
    '/dashboard/images',
    {
      config: { access },
      schema: {
        operationId: 'listImages',
        tags,
        summary: 'List the own pictures',
        description: 'In the order they were uploaded.',
        response: { 200: z.array(DashboardImage) },
      },
    },
    (request) => listImages(request.ctx),
  );

  acceptForms(app, (scope) => {
    scope.post(
      '/dashboard/images',
      {
        config: { access, errors: { 400: ['UNSUPPORTED_IMAGE'], 409: ['IMAGE_LIMIT'] } },
        schema: {
          operationId: 'addImage',
          tags,
          summary: 'Upload a picture',
          description:
            'Multipart, one file in the field `image`: PNG, JPEG, GIF or WebP by content, at most 5 MiB, 30 of them an account. It is kept byte for byte, with whatever it says about place and camera.',
          body: FileForm('image', imageMaxBytes),
          response: { 201: DashboardImage },
        },
      },
      async (request) => {
        const { image } = await readForm(request);
        return addImage(request.ctx, image);
      },
    );
  });

  app.get(
    '/dashboard/images/:id',
    {
      config: { access },
      schema: {
        operationId: 'openImage',
        tags,
        summary: 'The bytes of an own picture',
        description:
          'As they were uploaded, under the type they were found to be of; what is under an id never changes.',
        params: z.object({ id: PathId }),
        produces: ['image/png', 'image/jpeg', 'image/gif', 'image/webp'],
        response: { 200: z.any().describe('The picture as it was uploaded') },
      },
    },
    async (request, reply) => {
      const { type, file } = await openImage(request.ctx, request.params.id);
      reply.header('cache-control', 'private').header('content-disposition', 'inline');
      return sendFile(request, reply, { type }, () => file);
    },
  );

  app.delete(
    '/dashboard/images/:id',
    {
      config: { access },
      schema: {
        operationId: 'deleteImage',
        tags,
        summary: 'Delete an own picture',
        description: 'A background that showed it becomes none, and picture frames go on without it.',
        params: z.object({ id: PathId }),
        response: { 204: NoContent },
      },
    },
    (request) => deleteImage(request.ctx, request.params.id),
  );
}
