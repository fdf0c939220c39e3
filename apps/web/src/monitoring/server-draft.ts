import type { Server } from '@portal/client/interface';
import type { ServerKind } from './servers.ts';

/** The settings of a server as a person edits them. */
export interface ServerDraft {
  kind: ServerKind;
  name: string;
  address: string;
  authMethod: Server['authMethod'];
  tokenId: string;
  username: string;
  /** Of the method in use; empty keeps the stored one. */
  secret: string;
  verifyTls: boolean;
  caCertificatePem: string;
  pollIntervalMin: string;
  isActive: boolean;
}

/** Without a server: the form of a new one. */
export const draftOf = (server: Server | null): ServerDraft => ({
  kind: server?.kind ?? 'virtualization',
  name: server?.name ?? '',
  address: server?.address ?? '',
  authMethod: server?.authMethod ?? 'token',
  tokenId: server?.tokenId ?? '',
  username: server?.username ?? '',
  secret: '',
  verifyTls: server?.verifyTls ?? true,
  caCertificatePem: server?.caCertificatePem ?? '',
  pollIntervalMin: String(server?.pollIntervalMin ?? 5),
  isActive: server?.isActive ?? true,
});

/** Mail gateways support no tokens. */
export const methodOf = ({ kind, authMethod }: Pick<ServerDraft, 'kind' | 'authMethod'>): Server['authMethod'] =>
  kind === 'mail-gateway' ? 'password' : authMethod;

/** What the service takes. */
export function bodyOf({ tokenId, username, secret, caCertificatePem, pollIntervalMin, ...draft }: ServerDraft) {
  const authMethod = methodOf(draft);
  const isToken = authMethod === 'token';
  return {
    ...draft,
    address: completed(draft.address),
    authMethod,
    tokenId: isToken ? tokenId.trim() : null,
    username: isToken ? null : username.trim(),
    tokenSecret: isToken ? secret.trim() : null,
    password: isToken ? null : secret,
    caCertificatePem: caCertificatePem.trim() === '' ? null : caCertificatePem,
    pollIntervalMin: pollIntervalMin.trim() === '' ? Number.NaN : Number(pollIntervalMin),
  };
}

/** People paste what the browser shows: with the path of the product's own page, or without the scheme. */
export function completed(address: string): string {
  const text = address.trim();
  const full = text.includes('://') ? text : `https://${text}`;
  // Not `URL`, which leaves port 443 out, and the service would take the product's own.
  const [origin] = /^https:\/\/[^/?#@\s\\]+(?=[/?#]|$)/i.exec(full) ?? [];
  return origin !== undefined && URL.canParse(origin) ? origin : text;
}

/** True if a secret for the method in use is stored. */
export const hasSecret = (server: Server | null, draft: ServerDraft): boolean =>
  methodOf(draft) === 'token' ? server?.hasTokenSecret === true : server?.hasPassword === true;
