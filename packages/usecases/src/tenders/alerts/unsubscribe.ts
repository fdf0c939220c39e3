import { createHmac, timingSafeEqual } from 'node:crypto';
import { eq } from 'drizzle-orm';
import { users } from '@portal/db/schema/accounts/users';
import { notFound } from '@portal/domain/errors';
import { type AlertKind, alertKinds } from '@portal/domain/tenders/saved-searches';
import type { Config } from '@portal/platform/config';
import type { SystemContext } from '@portal/platform/context';
import { endAlerts } from './preference.ts';

/** Whose mails of which kind are to end. */
interface Subscription {
  tenantId: string;
  userId: string;
  kind: AlertKind;
}

type Keys = Config['sessionKeys'];

/** The address that ends mails of a kind, for as long as the key it is signed with is among the keys. */
export const unsubscribeUrl = ({ sessionKeys, http }: Config, { tenantId, userId, kind }: Subscription): string => {
  const what = Buffer.concat([
    Buffer.from([alertKinds.indexOf(kind)]),
    ...[tenantId, userId].map((id) => Buffer.from(id.replaceAll('-', ''), 'hex')),
  ]).toString('base64url');
  const [{ id, bytes }] = sessionKeys;
  return `${http.publicUrl}/unsubscribe/${id}.${what}.${signatureOf(bytes.reveal(), what).toString('base64url')}`;
};

// Said first, so that nothing that another signature covers could be taken for this.
const signatureOf = (key: Buffer, what: string): Buffer =>
  createHmac('sha256', key).update(`unsubscribe from tenders/${what}`).digest();

/** Null for what was not signed with one of the keys. */
function readToken(keys: Keys, token: string): Subscription | null {
  const [keyId, what = '', signature = '', ...rest] = token.split('.');
  const key = keys.find(({ id }) => id === keyId);
  const given = Buffer.from(signature, 'base64url');
  if (!key || rest.length > 0) return null;
  const right = signatureOf(key.bytes.reveal(), what);
  if (given.length !== right.length || !timingSafeEqual(given, right)) return null;
  const bytes = Buffer.from(what, 'base64url');
  const kind = alertKinds[bytes[0] ?? alertKinds.length];
  if (bytes.length !== 33 || kind === undefined) return null;
  return { tenantId: uuidOf(bytes.subarray(1, 17)), userId: uuidOf(bytes.subarray(17)), kind };
}

const uuidOf = (bytes: Buffer): string => bytes.toString('hex').replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');

/** What a link ends; changes nothing. Throws 404 for one that was not made here, or whose account is gone. */
export async function subscriptionOf(system: SystemContext, token: string): Promise<AlertKind> {
  const subscription = readToken(system.config.sessionKeys, token);
  if (!subscription) throw notFound();
  const { tenantId, userId, kind } = subscription;
  const known = await system.inTenant(tenantId).read((db) => db.$count(users, eq(users.id, userId)));
  if (known === 0) throw notFound();
  return kind;
}

/** Ends what a link is about; a second time nothing happens. Throws 404 as above. */
export async function unsubscribe(system: SystemContext, token: string): Promise<AlertKind> {
  const subscription = readToken(system.config.sessionKeys, token);
  if (!subscription || !(await endAlerts(system.inTenant(subscription.tenantId), subscription))) throw notFound();
  return subscription.kind;
}
