import { createHmac, timingSafeEqual } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { users } from '@portal/db/schema/accounts/users';
import { notFound } from '@portal/domain/errors';
import { type AlertKind, alertKinds } from '@portal/domain/tenders/saved-searches';
import type { Config } from '@portal/platform/config';
import type { SystemContext } from '@portal/platform/context';
import { endAlerts } from './preference.ts';

/** The mails that a link ends: their account and kind. */
interface Subscription {
  tenantId: string;
  userId: string;
  kind: AlertKind;
}

type Keys = Config['sessionKeys'];

/** The link that ends mails of a kind. It is valid as long as its signing key is configured. */
export const unsubscribeUrl = ({ sessionKeys, http }: Config, { tenantId, userId, kind }: Subscription): string => {
  const payload = Buffer.concat([
    Buffer.from([alertKinds.indexOf(kind)]),
    ...[tenantId, userId].map((id) => Buffer.from(id.replaceAll('-', ''), 'hex')),
  ]).toString('base64url');
  const [{ id, bytes }] = sessionKeys;
  return `${http.publicUrl}/unsubscribe/${id}.${payload}.${signatureOf(bytes.reveal(), payload).toString('base64url')}`;
};

// The prefix separates this purpose from others: no other signature with the same key is valid here.
const signatureOf = (key: Buffer, payload: string): Buffer =>
  createHmac('sha256', key).update(`unsubscribe from tenders/${payload}`).digest();

/** Null if none of the keys signed the token. */
function readToken(keys: Keys, token: string): Subscription | null {
  const [keyId, payload = '', signature = '', ...rest] = token.split('.');
  const key = keys.find(({ id }) => id === keyId);
  const given = Buffer.from(signature, 'base64url');
  if (!key || rest.length > 0) return null;
  const expected = signatureOf(key.bytes.reveal(), payload);
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return null;
  const bytes = Buffer.from(payload, 'base64url');
  const kind = alertKinds[bytes[0] ?? alertKinds.length];
  if (bytes.length !== 33 || kind === undefined) return null;
  return { tenantId: uuidOf(bytes.subarray(1, 17)), userId: uuidOf(bytes.subarray(17)), kind };
}

const uuidOf = (bytes: Buffer): string => bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');

/** The kind of mail a link ends; changes nothing. Throws 404 for a link with no valid signature, and if its account is deleted. */
export async function subscriptionOf(system: SystemContext, token: string): Promise<AlertKind> {
  const subscription = readToken(system.config.sessionKeys, token);
  if (!subscription) throw notFound();
  const { tenantId, userId, kind } = subscription;
  const known = await system.inTenant(tenantId).read((db) => db.$count(users, eq(users.id, userId)));
  if (known === 0) throw notFound();
  return kind;
}

/** Ends the mails of a link; a second call has no effect. Throws 404 like `subscriptionOf`. */
export async function unsubscribe(system: SystemContext, token: string): Promise<AlertKind> {
  const subscription = readToken(system.config.sessionKeys, token);
  if (!subscription || !(await endAlerts(system.inTenant(subscription.tenantId), subscription))) throw notFound();
  return subscription.kind;
}
