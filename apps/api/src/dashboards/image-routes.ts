import { z } from 'zod';
import { signedIn } from '@portal/domain/access';
import { DashboardImage, imageMaxBytes } from '@portal/domain/dashboards/tabs';
import { addImage, deleteImage, getImage, listImages, openImage } from '@portal/usecases/dashboards/images';
import { sendFile } from '../files.ts';
import { acceptForms, FileForm, readForm } from '../uploads.ts';
import { type App, ById, NoContent } from '../zod-app.ts';

const tags = ['dashboards'];
const access = signedIn;

/** A user's own pictures for picture frames and backgrounds. */
export function registerDashboardImages(app: App): void {
  app.get(
    '/dashboard/images',
    {
      config: { access },
      schema: {
        operationId: 'listImages',
        tags,
        summary: 'List your own pictures',
        description: 'Pictures in the order they were uploaded.',
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
            'Multipart with one file in the field `image`: a PNG, JPEG, GIF or WebP image (checked by content) of at most 5 MiB. An account can have 30 pictures. The file is stored unchanged, including metadata such as location and camera.',
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
        summary: 'Get the file of one of your own pictures',
        description:
          'Returns the uploaded file, with the content type that was detected. The file of an id never changes.',
        params: ById,
        produces: ['image/png', 'image/jpeg', 'image/gif', 'image/webp'],
        response: { 200: z.any().describe('The picture as it was uploaded') },
      },
    },
    async (request, reply) => {
      const image = await getImage(request.ctx, request.params.id);
      reply.header('cache-control', 'private').header('content-disposition', 'inline');
      return sendFile(request, reply, { type: image.type }, (partOf) => openImage(request.ctx, image, partOf));
    },
  );

  app.delete(
    '/dashboard/images/:id',
    {
      config: { access },
      schema: {
        operationId: 'deleteImage',
        tags,
        summary: 'Delete one of your own pictures',
        description:
          'If it is the background of your dashboards, the background becomes `none`. It is also removed from your picture widgets.',
        params: ById,
        response: { 204: NoContent },
      },
    },
    (request) => deleteImage(request.ctx, request.params.id),
  );
}
