import { createSigner, createVerifier } from 'fast-jwt';
import { z } from 'zod';
import { Id } from '@portal/domain/ids';
import type { Key } from '@portal/platform/config';
import { resource } from '@portal/platform/resource';

/** The content of the session cookie: account, tenant, session and session version. */
const Claims = z.object({ sub: Id, tid: Id, sid: Id, ver: z.int() });
export type SessionClaims = z.infer<typeof Claims>;
const Payload = Claims.extend({ exp: z.int() });

const maxVerifiedTokens = 10_000;

/** Sign-ins last 30 days. */
export const sessionSeconds = 30 * 24 * 60 * 60;

export interface SessionTokens {
  issue(claims: SessionClaims): string;
  /** The claims of a valid token signed by this service; null for anything else. */
  read(token: string): SessionClaims | null;
}

/**
 * Issues and verifies session tokens: JWT with HS256 only. Each key has its own verifier, found by the exact bytes of the token's
 * header. A header that the service would not write itself (another algorithm, a missing or unknown key id) has no verifier.
 */
export function openSessionTokens(keys: [Key, ...Key[]]): SessionTokens {
  const signers = keys.map(({ id, bytes }) =>
    createSigner({ algorithm: 'HS256', key: bytes.reveal(), kid: id, expiresIn: sessionSeconds * 1_000 }),
  );
  const verifiers = new Map(
    keys.map(({ bytes }, index) => [
      headerOf(signers[index]?.({}) ?? ''),
      createVerifier({ algorithms: ['HS256'], key: bytes.reveal() }),
    ]),
  );
  // Every request of a session sends the same token, so cache verified tokens.
  const verified = new Map<string, { claims: SessionClaims; exp: number }>();
  const sign = signers[0];

  function verify(token: string): SessionClaims | null {
    try {
      const payload = Payload.safeParse(verifiers.get(headerOf(token))?.(token));
      if (!payload.success) return null;
      const { exp, ...claims } = payload.data;
      const [oldest] = verified.size >= maxVerifiedTokens ? verified.keys() : [];
      if (oldest !== undefined) verified.delete(oldest);
      verified.set(token, { claims, exp });
      return claims;
    } catch {
      return null;
    }
  }

  return {
    issue: ({ sub, tid, sid, ver }) => sign?.({ sub, tid, sid, ver }) ?? '',
    read(token) {
      const known = verified.get(token);
      return known && known.exp * 1_000 > Date.now() ? known.claims : verify(token);
    },
  };
}

const headerOf = (token: string): string => token.slice(0, Math.max(0, token.indexOf('.')));

export const sessionTokens = resource(({ config }) => openSessionTokens(config.sessionKeys));
