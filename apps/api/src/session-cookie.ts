import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Config } from '@portal/platform/config';
import { sessionSeconds } from '@portal/usecases/accounts/session-token';

const isHttps = (config: Config): boolean => config.http.publicUrl.startsWith('https:');

/** The prefix binds the cookie to this host and to https (RFC 6265bis, section 4.1.3); browsers refuse it over plain http. */
export const sessionCookieName = (config: Config): string =>
  isHttps(config) ? '__Host-portal_session' : 'portal_session';

/** The session token of a request, not yet verified. */
export function sessionTokenOf(request: FastifyRequest): string | undefined {
  const header = request.headers.cookie;
  return header === undefined
    ? undefined
    : request.server.parseCookie(header)[sessionCookieName(request.system.config)];
}

export function setSessionCookie(reply: FastifyReply, token: string): void {
  writeCookie(reply, token, sessionSeconds);
}

export function clearSessionCookie(reply: FastifyReply): void {
  writeCookie(reply, '', 0);
}

function writeCookie(reply: FastifyReply, value: string, maxAge: number): void {
  const { config } = reply.request.system;
  const { cookieSameSite: sameSite } = config.http;
  void reply.setCookie(sessionCookieName(config), value, {
    path: '/',
    maxAge,
    httpOnly: true,
    sameSite,
    secure: isHttps(config),
  });
}
