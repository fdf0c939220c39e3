import { z } from 'zod';
import { Role, role } from '@portal/domain/access';
import { AccentColor, AccountSource, Email, PasswordInput, User, Username } from '@portal/domain/accounts/accounts';
import { invalid } from '@portal/domain/errors';
import { Id } from '@portal/domain/ids';
import { line, lineOrNull } from '@portal/domain/text';
import { Instant } from '@portal/domain/time';
import { endUserSessions } from '@portal/usecases/accounts/sessions';
import { adminResetPassword } from '@portal/usecases/accounts/temporary-passwords';
import { updateUser } from '@portal/usecases/accounts/update-user';
import { createUser, deleteUser, getUser, listUsers } from '@portal/usecases/accounts/users';
import { sendWelcomeMail, welcomeMailStatus } from '@portal/usecases/accounts/welcome-mails';
import { pageQuery, sendPage } from '../paging.ts';
import { type App, ById, NoContent } from '../zod-app.ts';

const tags = ['users'];
const access = role('ADMIN');

const personFields = {
  email: Email.nullable().optional(),
  displayName: lineOrNull().optional(),
  firstName: lineOrNull().optional(),
  lastName: lineOrNull().optional(),
};

const NewUser = z
  .object({
    username: Username,
    ...personFields,
    password: PasswordInput.optional().describe(
      'Without a password the account cannot sign in until its user sets one through a mailed link',
    ),
    role: Role.default('USER'),
    isActive: z.boolean().default(true),
    mustChangePassword: z.boolean().optional().describe('Default is true if a password is given'),
    tenantId: Id.optional().describe('Only for SUPER_ADMIN; default is the caller’s tenant'),
    sendWelcomeMail: z.boolean().optional().describe('Needs an e-mail address; the mail is sent after the answer'),
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

/** Routes for administrators who manage accounts. */
export function registerUsers(app: App): void {
  app.get(
    '/users',
    {
      config: { access },
      schema: {
        operationId: 'listUsers',
        tags,
        summary: 'List accounts',
        description:
          'Sorted by username. An ADMIN sees the accounts of their own tenant, a SUPER_ADMIN those of all tenants or of the tenant named in `tenantId`.',
        querystring: z.object({
          search: line().optional().describe('Part of username, name or e-mail address'),
          role: Role.optional(),
          isActive: z.stringbool({ truthy: ['true'], falsy: ['false'], case: 'sensitive' }).optional(),
          source: AccountSource.optional(),
          tenantId: Id.optional().describe('Only for SUPER_ADMIN'),
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
        description: 'Only a SUPER_ADMIN may assign the role SUPER_ADMIN or name another tenant.',
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
        summary: 'Get an account',
        description: 'Another tenant’s account answers 404, except to a SUPER_ADMIN.',
        params: ById,
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
          'Changes only the fields that are sent. You cannot change your own role or deactivate your own account; your own e-mail address is changed in the profile, with the password. An ADMIN cannot change a SUPER_ADMIN. Name and address of a directory account come from the directory, and such an account never becomes SUPER_ADMIN. If `isActive` is sent, even with the same value, it counts as the administrator’s decision: no synchronization switches that account on again. A changed address counts as confirmed: unused links of the account become invalid, and the old address gets a notice.',
        params: ById,
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
          'Also deletes its personal data and files. You cannot delete your own account, and an ADMIN cannot delete a SUPER_ADMIN. The next synchronization creates a deleted directory account again, without its data, unless its username is on the exclude list.',
        params: ById,
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
          'If `newPassword` is left out, a password is generated and returned only in this answer. The account must change it at its next sign-in within 7 days; after that it no longer works. All sessions of the account end.',
        params: ById,
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
        params: ById,
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
        summary: 'Check whether welcome mails can be sent',
        description: 'They cannot be sent if neither the tenant nor the service has a mail server.',
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
          'Can be repeated. A local account gets a link to set its password, which works once within 7 days; a directory account gets a hint about its directory password. Waits up to 15 s; after that `sent: false` means that the mail may still be sent.',
        params: ById,
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
