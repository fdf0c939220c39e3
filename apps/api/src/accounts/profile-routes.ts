import { z } from 'zod';
import { signedIn } from '@portal/domain/access';
import { AccentColor, Email, Language, PasswordInput, Profile, Theme } from '@portal/domain/accounts/accounts';
import { DashboardBackground } from '@portal/domain/dashboards/background';
import { lineOrNull } from '@portal/domain/text';
import { avatarMaxBytes, deleteAvatar, openAvatar, setAvatar } from '@portal/usecases/accounts/avatar';
import { updateOwnProfile } from '@portal/usecases/accounts/own-profile';
import { markReleaseSeen, releaseNotice } from '@portal/usecases/accounts/release-notice';
import { setDashboardBackground } from '@portal/usecases/dashboards/background';
import { sendFile, sendStored } from '../files.ts';
import { acceptForms, FileForm, readForm } from '../uploads.ts';
import { type App, ById, NoContent } from '../zod-app.ts';

const tags = ['accounts'];
const access = signedIn;

const avatar = { type: 'image/webp' };
const Picture = z.any().describe('The picture, WebP');

/** Routes for the caller's own profile: picture, color, background, releases seen. */
export function registerProfile(app: App): void {
  app.patch(
    '/users/me',
    {
      config: {
        access,
        errors: {
          400: ['CURRENT_PASSWORD_REQUIRED'],
          401: ['CURRENT_PASSWORD_WRONG'],
          409: ['DIRECTORY_ACCOUNT', 'MAIL_NOT_CONFIGURED'],
          429: ['RATE_LIMITED'],
        },
      },
      schema: {
        operationId: 'updateOwnProfile',
        tags,
        summary: 'Change your own profile',
        description:
          'Changes only the fields that are sent. Name and address of a directory account come from the directory. A new `email` needs `currentPassword` and is kept as `pendingEmail` until the link mailed to it is used; the link works once within 24 hours. The current address gets a notice. If the new address belongs to another account, the answer is the same, but that account gets a notice instead of the link. `null` or the current address cancels a pending change. After 5 changes within an hour, or 5 wrong current passwords within 10 minutes, the next change answers 429.',
        body: z
          .object({
            accentColor: AccentColor.optional(),
            displayName: lineOrNull().optional(),
            language: Language.nullable().optional(),
            theme: Theme.nullable().optional(),
            email: Email.nullable().optional(),
            currentPassword: PasswordInput.optional().describe('Needed to change `email`'),
          })
          .meta({ example: { accentColor: '#0f766e' } }),
        response: { 200: Profile },
      },
    },
    (request) => updateOwnProfile(request.ctx, request.body),
  );

  app.patch(
    '/users/me/dashboard-background',
    {
      config: { access, errors: { 404: ['NOT_FOUND'] } },
      schema: {
        operationId: 'setDashboardBackground',
        tags,
        summary: 'Set the background of your own dashboards',
        description:
          'The background is none, a color, a gradient or one of your own pictures; anything else is refused.',
        body: DashboardBackground,
        response: { 200: Profile },
      },
    },
    (request) => setDashboardBackground(request.ctx, request.body),
  );

  acceptForms(app, (scope) => {
    scope.post(
      '/users/me/avatar',
      {
        config: { access, errors: { 400: ['UNSUPPORTED_IMAGE'] } },
        schema: {
          operationId: 'setAvatar',
          tags,
          summary: 'Upload your avatar',
          description:
            'Multipart with one file in the field `file`: a PNG, JPEG or WebP image (checked by content) of at most 2 MiB. The image is cropped to a square of at most 512 pixels, and metadata such as location and camera is removed.',
          body: FileForm('file', avatarMaxBytes),
          response: { 200: z.object({ hasAvatar: z.literal(true) }).meta({ example: { hasAvatar: true } }) },
        },
      },
      async (request) => {
        const { file } = await readForm(request);
        await setAvatar(request.ctx, file.bytes);
        return { hasAvatar: true as const };
      },
    );
  });

  app.get(
    '/users/me/avatar',
    {
      config: { access, errors: { 404: ['NOT_FOUND'] } },
      schema: {
        operationId: 'openOwnAvatar',
        tags,
        summary: 'Get your avatar',
        description: 'Returned as WebP. 404 if the account has no avatar.',
        produces: ['image/webp'],
        response: { 200: Picture },
      },
    },
    (request, reply) =>
      sendStored(() =>
        sendFile(request, reply, avatar, (partOf) => openAvatar(request.ctx, request.ctx.actor.id, partOf)),
      ),
  );

  app.delete(
    '/users/me/avatar',
    {
      config: { access },
      schema: {
        operationId: 'deleteAvatar',
        tags,
        summary: 'Remove your avatar',
        description: 'Succeeds even if the account has no avatar.',
        response: { 204: NoContent },
      },
    },
    (request) => deleteAvatar(request.ctx),
  );

  app.get(
    '/users/:id/avatar',
    {
      config: { access },
      schema: {
        operationId: 'openAvatar',
        tags,
        summary: 'Get the avatar of an account of the same tenant',
        description: 'Returned as WebP. 404 if the account has no avatar or belongs to another tenant.',
        params: ById,
        produces: ['image/webp'],
        response: { 200: Picture },
      },
    },
    (request, reply) =>
      sendStored(() =>
        sendFile(request, reply, avatar, (partOf) => openAvatar(request.ctx, request.params.id, partOf)),
      ),
  );

  app.get(
    '/users/me/release-notice',
    {
      config: { access },
      schema: {
        operationId: 'releaseNotice',
        tags,
        summary: 'Check whether there is a new release to read about',
        description:
          'Returns the running release and the release last marked as seen. While `dev` is running, nothing counts as new.',
        response: {
          200: z
            .object({
              running: z.object({ version: z.string(), channel: z.string() }),
              lastSeenVersion: z.string().nullable(),
              isNew: z.boolean(),
            })
            .meta({
              example: { running: { version: '1.4.0', channel: 'live' }, lastSeenVersion: '1.3.2', isNew: true },
            }),
        },
      },
    },
    (request) => releaseNotice(request.ctx),
  );

  app.post(
    '/users/me/release-seen',
    {
      config: { access, errors: { 400: ['NOT_COMPARABLE'] } },
      schema: {
        operationId: 'markReleaseSeen',
        tags,
        summary: 'Remember a release as seen',
        description:
          'A version below the stored one changes nothing. A leading `v` is allowed. A version above the running release is refused.',
        body: z.object({ version: z.string().min(1).max(100) }).meta({ example: { version: 'v1.4.0' } }),
        response: { 200: z.object({ lastSeenVersion: z.string() }).meta({ example: { lastSeenVersion: '1.4.0' } }) },
      },
    },
    (request) => markReleaseSeen(request.ctx, request.body.version),
  );
}
