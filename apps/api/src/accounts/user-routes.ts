import { z } from 'zod';
import { Role, role } from '@portal/domain/access';
import { AccentColor, AccountSource, Email, PasswordInput, User, Username } from '@portal/domain/accounts/accounts';
import { invalid } from '@portal/domain/errors';
import { Id, PathId } from '@portal/domain/ids';
import { line } from '@portal/domain/text';
import { Instant } from '@portal/domain/time';
import { endUserSessions } from '@portal/usecases/accounts/sessions';
import { adminResetPassword } from '@portal/usecases/accounts/temporary-passwords';
import { updateUser } from '@portal/usecases/accounts/update-user';
import { createUser, deleteUser, getUser, listUsers } from '@portal/usecases/accounts/users';
import { sendWelcomeMail, welcomeMailStatus } from '@portal/usecases/accounts/welcome-mails';
import { pageQuery, sendPage } from '../paging.ts';
import { type App, NoContent } from '../zod-app.ts';

const tags = ['users'];
const access = role('ADMIN');
const params = z.object({ id: PathId });

const personFields = {
  email: Email.nullable().optional(),
  displayName: line().nullable().optional(),
  firstName: line().nullable().optional(),
  lastName: line().nullable().optional(),
};

const NewUser = z
  .object({
    username: Username,
    ...personFields,
    password: PasswordInput.optional().describe(
      'Without one the account cannot sign in until a set-password link was used',
    ),
    role: Role.default('USER'),
    isActive: z.boolean().default(true),
    mustChangePassword: z.boolean().optional().describe('True unless said otherwise when a password is given'),
    tenantId: Id.optional().describe('For SUPER_ADMIN; the own tenant without it'),
    sendWelcomeMail: z.boolean().optional().describe('Needs an e-mail address; the mail goes out after the answer'),
  })
  .meta({ example: { username: 'max.meier', email: 'max.meier@example.org', displayName: 'Max Meier', role: 'USER' } });

const UserChange = z
  .object({
    username: Username.optional(),
    ...personFields,
    role: Role.optional(),
    isActive: z.boolean().optional(),
    mustChangePassword: z.boolean().optional(),
    accentColor: AccentColor.optional(),
    password: z.never('is changed with the password routes').optional(),
    tenantId: z.unknown().optional().describe('Refused: an account stays in its tenant'),
  })
  .meta({ example: { displayName: 'Max Meier', role: 'ADMIN' } });

/** Accounts as administrators keep them. */
export function registerUsers(app: App): void {
  app.get(
    '/users',
    {
      config: { access },
      schema: {
        operationId: 'listUsers',
        tags,
        summary: 'List accounts',
        description: 'By username. An ADMIN sees the own tenant; a SUPER_ADMIN all tenants, or the one named.',
        querystring: z.object({
          search: line().optional().describe('Part of username, name or e-mail address'),
          role: Role.optional(),
          isActive: z.stringbool({ truthy: ['true'], falsy: ['false'], case: 'sensitive' }).optional(),
          source: AccountSource.optional(),
          tenantId: Id.optional().describe('For SUPER_ADMIN'),
          ...pageQuery({ max: 1_000, standard: 500 }),
        }),
        response: { 200: z.array(User) },
      },
    },
    async (request, reply) => {
      const { cursor, ...filter } = request.query;
      return sendPage(reply, await listUsers(request.ctx, { ...filter, after: cursor }));
    },
  );

  app.post(
    '/users',
    {
      config: {
        access,
        errors: {
          400: ['PASSWORD_POLICY'],
          403: ['ROLE_NOT_ALLOWED'],
          404: ['NOT_FOUND'],
          409: ['USERNAME_TAKEN', 'EMAIL_TAKEN'],
        },
      },
      schema: {
        operationId: 'createUser',
        tags,
        summary: 'Create a local account',
        description: 'Only a SUPER_ADMIN may assign SUPER_ADMIN or name another tenant.',
        body: NewUser,
        response: { 201: User },
      },
    },
    (request) => createUser(request.ctx, request.body),
  );

  app.get(
    '/users/:id',
    {
      config: { access },
      schema: {
        operationId: 'getUser',
        tags,
        summary: 'One account',
        description: 'Another tenant’s account answers 404, except to a SUPER_ADMIN.',
        params,
        response: { 200: User },
      },
    },
    (request) => getUser(request.ctx, request.params.id),
  );

  app.patch(
    '/users/:id',
    {
      config: {
        access,
        errors: {
          400: ['TENANT_FIXED'],
          403: ['FORBIDDEN', 'ROLE_NOT_ALLOWED'],
          409: ['USERNAME_TAKEN', 'EMAIL_TAKEN', 'DIRECTORY_ACCOUNT', 'LAST_SUPER_ADMIN'],
        },
      },
      schema: {
        operationId: 'updateUser',
        tags,
        summary: 'Change an account',
        description:
          'Changes what is named. Nobody changes the own role or deactivates the own account, and the own address is changed in the profile, with the password; an ADMIN does not touch a SUPER_ADMIN; name and address of a directory account come from the directory, and it never becomes SUPER_ADMIN. An `isActive` that is named is the administrator’s word, also where it changes nothing: no synchronization switches that account on again. A changed address counts as confirmed: unused links of the account end, and the old address gets a notice.',
        params,
        body: UserChange,
        response: { 200: User },
      },
    },
    (request) => {
      const { tenantId, password: _refused, ...change } = request.body;
      if (tenantId !== undefined) throw invalid('TENANT_FIXED');
      return updateUser(request.ctx, request.params.id, change);
    },
  );

  app.delete(
    '/users/:id',
    {
      config: { access, errors: { 403: ['FORBIDDEN'], 409: ['LAST_SUPER_ADMIN'] } },
      schema: {
        operationId: 'deleteUser',
        tags,
        summary: 'Delete an account',
        description:
          'Its personal data and files go with it. Nobody deletes the own account; an ADMIN does not delete a SUPER_ADMIN. An account of a directory comes back empty with the next synchronization, unless its username is on the exclude list.',
        params,
        response: { 204: NoContent },
      },
    },
    (request) => deleteUser(request.ctx, request.params.id),
  );

  app.post(
    '/users/:id/reset-password',
    {
      config: { access, errors: { 400: ['PASSWORD_POLICY'], 403: ['FORBIDDEN'], 409: ['DIRECTORY_ACCOUNT'] } },
      schema: {
        operationId: 'adminResetPassword',
        tags,
        summary: 'Give an account a temporary password',
        description:
          'Without one given, one is made and shown this once. The account must change it at its next sign-in, within 7 days, after which it is no way in any more; its sessions end.',
        params,
        body: z.object({ newPassword: PasswordInput.optional() }).nullish().meta({ example: {} }),
        response: {
          200: z
            .object({ temporaryPassword: z.string().optional() })
            .meta({ example: { temporaryPassword: 'k7Pm-x3Wq-Tz9b-Hd5r' } }),
        },
      },
    },
    (request) => adminResetPassword(request.ctx, request.params.id, request.body?.newPassword),
  );

  app.post(
    '/users/:id/logout-all',
    {
      config: { access, errors: { 403: ['FORBIDDEN'] } },
      schema: {
        operationId: 'endUserSessions',
        tags,
        summary: 'End every session of an account',
        description: 'The account must sign in again everywhere.',
        params,
        response: { 204: NoContent },
      },
    },
    (request) => endUserSessions(request.ctx, request.params.id),
  );

  app.get(
    '/users/welcome-mail/status',
    {
      config: { access },
      schema: {
        operationId: 'welcomeMailStatus',
        tags,
        summary: 'Whether welcome mails can be sent',
        description: 'Not while neither the tenant nor the service has a mail server.',
        response: {
          200: z
            .object({ available: z.boolean(), reason: z.literal('MAIL_NOT_CONFIGURED').nullable() })
            .meta({ example: { available: true, reason: null } }),
        },
      },
    },
    (request) => welcomeMailStatus(request.ctx),
  );

  app.post(
    '/users/:id/welcome-mail',
    {
      config: { access, errors: { 403: ['FORBIDDEN'], 409: ['NO_ADDRESS', 'MAIL_NOT_CONFIGURED'] } },
      schema: {
        operationId: 'sendWelcomeMail',
        tags,
        summary: 'Send an account its welcome mail',
        description:
          'As often as you like. A local account gets a link to set its password, good for 7 days and once; a directory account a hint about its directory password. Waits up to 15 s: `sent: false` then means that the mail may still go out.',
        params,
        response: {
          200: z
            .object({ sent: z.boolean(), welcomeMailSentAt: Instant.nullable() })
            .meta({ example: { sent: true, welcomeMailSentAt: '2026-11-20T08:30:00.000Z' } }),
        },
      },
    },
    (request) => sendWelcomeMail(request.ctx, request.params.id),
  );
}
