import { z } from 'zod';
import { open, signedIn } from '@portal/domain/access';
import { PasswordInput, Profile } from '@portal/domain/accounts/accounts';
import { Id } from '@portal/domain/ids';
import { Instant } from '@portal/domain/time';
import { toProfile } from '@portal/usecases/accounts/account-columns';
import { confirmEmail } from '@portal/usecases/accounts/email-change';
import { requestReset, resetPassword } from '@portal/usecases/accounts/password-reset';
import { changePassword } from '@portal/usecases/accounts/passwords';
import { endOwnSessions, endSession, listSessions, signOut } from '@portal/usecases/accounts/sessions';
import { signIn } from '@portal/usecases/sign-in/sign-in';
import { clearSessionCookie, sessionTokenOf, setSessionCookie } from '../session-cookie.ts';
import { type App, ById, NoContent } from '../zod-app.ts';

const tags = ['accounts'];

const Session = z
  .object({
    id: Id,
    current: z.boolean().describe('Whether this is the session of this request'),
    createdAt: Instant,
    lastSeenAt: Instant.describe('Accurate to the minute'),
    ip: z.string().nullable(),
    userAgent: z.string().nullable(),
  })
  .meta({
    id: 'Session',
    example: {
      id: '0198d3c4-7f10-7a5b-9c3d-2e1f0a9b8c7d',
      current: true,
      createdAt: '2026-11-20T08:30:00.000Z',
      lastSeenAt: '2026-11-20T09:12:00.000Z',
      ip: '192.0.2.10',
      userAgent: 'Mozilla/5.0 (X11; Linux x86_64) Firefox/145.0',
    },
  });

const Identifier = z.string().trim().min(1, 'must not be empty').max(254);

const Token = z.string().min(1).max(200);

/** `identifier` is the documented name; `email` and `username` are accepted as aliases. */
const ResetRequest = z
  .object({
    identifier: Identifier.optional().describe('Username or e-mail address'),
    email: Identifier.optional().describe('Another name for `identifier`'),
    username: Identifier.optional().describe('Another name for `identifier`'),
    language: z.enum(['de', 'en']).default('de').describe('Language of the mail'),
  })
  .refine(({ identifier, email, username }) => (identifier ?? email ?? username) !== undefined, {
    path: ['identifier'],
    message: 'must be given',
  })
  .meta({ example: { identifier: 'anna.schmidt@example.org', language: 'de' } });

/** Routes for sign-in and sign-out, the caller's sessions and password, and the reset of a forgotten password. */
export function registerSignIn(app: App): void {
  app.post(
    '/auth/login',
    {
      config: {
        access: open('callers sign in here'),
        errors: { 401: ['INVALID_CREDENTIALS'], 429: ['RATE_LIMITED'] },
      },
      schema: {
        operationId: 'signIn',
        tags,
        summary: 'Sign in',
        description:
          'Opens a session and sets its cookie for 30 days. A directory account signs in with its directory password, while the directory is switched on. The answer and its duration are the same for an unknown username, a wrong password, a temporary password older than 7 days, an inactive account, an inactive tenant, and a directory that refuses the sign-in or cannot be reached within 5 s. After a slow answer from a directory, every refusal takes equally long for a while. If the request carries a session, that session ends. After 10 failures of one username from one address, or 60 from one address, within 15 minutes every attempt answers 429.',
        body: z
          .object({
            username: z.string().min(1).max(200).describe('Not case-sensitive'),
            password: PasswordInput,
          })
          .meta({ example: { username: 'anna.schmidt', password: 'correct horse battery' } }),
        response: { 200: z.object({ user: Profile }) },
      },
    },
    async (request, reply) => {
      const { profile, token } = await signIn(request.system, request.body, sessionTokenOf(request));
      setSessionCookie(reply, token);
      return { user: profile };
    },
  );

  app.post(
    '/auth/logout',
    {
      config: { access: open('signing out twice is fine') },
      schema: {
        operationId: 'signOut',
        tags,
        summary: 'Sign out',
        description: 'Ends the session of the cookie and clears the cookie. Without a cookie the answer is the same.',
        response: { 204: NoContent },
      },
    },
    async (request, reply) => {
      await signOut(request.system, sessionTokenOf(request));
      clearSessionCookie(reply);
    },
  );

  app.post(
    '/auth/logout-all',
    {
      config: { access: signedIn },
      schema: {
        operationId: 'endOwnSessions',
        tags,
        summary: 'Sign out everywhere',
        description: 'Ends every session of the account, including the current one.',
        response: { 204: NoContent },
      },
    },
    async (request, reply) => {
      await endOwnSessions(request.ctx);
      clearSessionCookie(reply);
    },
  );

  app.get(
    '/auth/me',
    {
      config: { access: signedIn },
      schema: {
        operationId: 'getOwnProfile',
        tags,
        summary: 'Get the signed-in account',
        description: 'Returns the current profile. This call also works while the account must change its password.',
        response: { 200: Profile },
      },
    },
    (request) => toProfile(request.ctx.account),
  );

  app.get(
    '/auth/sessions',
    {
      config: { access: signedIn },
      schema: {
        operationId: 'listSessions',
        tags,
        summary: 'List your own sessions',
        description: 'Returns the open sessions of the account, newest first, at most 200.',
        response: { 200: z.array(Session) },
      },
    },
    (request) => listSessions(request.ctx),
  );

  app.delete(
    '/auth/sessions/:id',
    {
      config: { access: signedIn },
      schema: {
        operationId: 'endSession',
        tags,
        summary: 'End one of your own sessions',
        description: 'The device that uses it must sign in again.',
        params: ById,
        response: { 204: NoContent },
      },
    },
    (request) => endSession(request.ctx, request.params.id),
  );

  app.post(
    '/auth/change-password',
    {
      config: {
        access: signedIn,
        errors: {
          400: ['PASSWORD_POLICY'],
          401: ['CURRENT_PASSWORD_WRONG'],
          409: ['DIRECTORY_ACCOUNT'],
          429: ['RATE_LIMITED'],
        },
      },
      schema: {
        operationId: 'changePassword',
        tags,
        summary: 'Change your own password',
        description:
          'Ends every other session and sets a new cookie for this session. A password has 10 to 128 characters and must not be the username, the e-mail address or a common password. If the change was forced, it must also differ from the current password. After 5 wrong current passwords within 10 minutes every attempt answers 429.',
        body: z
          .object({ currentPassword: PasswordInput, newPassword: PasswordInput })
          .meta({ example: { currentPassword: 'correct horse battery', newPassword: 'four candles and a fork' } }),
        response: { 204: NoContent },
      },
    },
    async (request, reply) => {
      const { token } = await changePassword(request.ctx, request.body);
      setSessionCookie(reply, token);
    },
  );

  app.post(
    '/auth/request-reset',
    {
      config: { access: open('users who forgot their password cannot sign in') },
      schema: {
        operationId: 'requestReset',
        tags,
        summary: 'Ask for a reset mail',
        description:
          'The answer and its duration are always the same. A mail is sent to active local accounts that have an e-mail address: at most 3 per hour for an account and 20 per hour from a network address. Its link works once within 7 days.',
        body: ResetRequest,
        response: { 202: z.object({ accepted: z.literal(true) }).meta({ example: { accepted: true } }) },
      },
    },
    async (request, reply) => {
      const { identifier, email, username, language } = request.body;
      await requestReset(request.system, { identifier: identifier ?? email ?? username ?? '', language });
      return reply.status(202).send({ accepted: true });
    },
  );

  app.post(
    '/auth/reset-password',
    {
      config: {
        access: open('the mailed token replaces the session'),
        errors: { 400: ['TOKEN_INVALID', 'PASSWORD_POLICY'] },
      },
      schema: {
        operationId: 'resetPassword',
        tags,
        summary: 'Set a new password with the token of a mail',
        description:
          'Works once within 7 days and ends every session of the account. Unknown, used and expired tokens get the same answer. If the new password breaks the password rules, the token can be used again.',
        body: z.object({ token: Token, newPassword: PasswordInput }).meta({
          example: { token: 'Zk3v0n8w2m5q7r9t1u4x6y8A0B2C4D6E8F0G2H4J6K8', newPassword: 'four candles and a fork' },
        }),
        response: { 204: NoContent },
      },
    },
    (request) => resetPassword(request.system, request.body),
  );

  app.post(
    '/auth/confirm-email',
    {
      config: {
        access: open('the mailed token replaces the session'),
        errors: { 400: ['TOKEN_INVALID'] },
      },
      schema: {
        operationId: 'confirmEmail',
        tags,
        summary: 'Confirm an address with the token of a mail',
        description:
          'Turns the pending address of an account into its e-mail address. The token works once within 24 hours. Unused links to set a password become invalid, and the old address gets a notice. Unknown, used and expired tokens get the same answer, and so does an address that another account has taken in the meantime.',
        body: z.object({ token: Token }).meta({ example: { token: 'Zk3v0n8w2m5q7r9t1u4x6y8A0B2C4D6E8F0G2H4J6K8' } }),
        response: { 204: NoContent },
      },
    },
    (request) => confirmEmail(request.system, request.body.token),
  );
}
