import { and, eq, gt, inArray, isNotNull, isNull, ne, sql } from 'drizzle-orm';
import type { Tx } from '@portal/db/open';
import { users } from '@portal/db/schema/accounts/users';
import { cloudInstances, cloudSubscriptions } from '@portal/db/schema/cloud-status/instances';
import { cloudOutageNotices, cloudOutages, cloudTransitions } from '@portal/db/schema/cloud-status/outages';
import { massOutage } from '@portal/domain/cloud-status/checks';
import type { FailureClass } from '@portal/domain/failure-class';
import { newId } from '@portal/domain/ids';
import { portions } from '@portal/domain/portions';
import { MINUTE, SECOND } from '@portal/domain/time';
import { queueMails } from '@portal/platform/outbox/queue-mail';
import { cloudFailedMail } from './mails/failed.ts';
import { queueRecoveryMails } from './mark-notified.ts';
import { lockNotices } from './notices.ts';

export type OutageEvent =
  | {
      kind: 'failed';
      instanceId: string;
      failingSince: Date | null;
      failure: FailureClass;
      message: string;
    }
  | { kind: 'recovered'; instanceId: string };
type Failed = Extract<OutageEvent, { kind: 'failed' }>;

/** How long a failure mail waits for other failures, if the tenant has enough instances for a mass outage. */
const gatheringMs = 20 * SECOND;

/** Begins and ends outages in the transaction of their checks and queues the mails. Returns whether it queued any. */
export async function reportOutages(tx: Tx, tenantId: string, events: OutageEvent[]): Promise<boolean> {
  if (events.length === 0) return false;
  const failed = events.filter((event) => event.kind === 'failed');
  const recovered = events.filter((event) => event.kind === 'recovered');
  // Locks the accounts, so that none is deleted before its mail is queued.
  const subscribers = await subscribersOf(tx, failed);
  await lockNotices(tx, tenantId);
  await tx.insert(cloudTransitions).values(
    events.map((event) => ({
      id: newId(),
      tenantId,
      instanceId: event.instanceId,
      at: sql`now()`,
      ...(event.kind === 'failed'
        ? { from: 'ok' as const, to: 'failed' as const, reason: event.message }
        : { from: 'failed' as const, to: 'ok' as const, reason: 'The cloud was reached again.' }),
    })),
  );
  const queued = [await beginOutages(tx, tenantId, failed, subscribers), await endOutages(tx, tenantId, recovered)];
  return queued.some((count) => count > 0);
}

type Subscriber = { instanceId: string; userId: string };

async function subscribersOf(tx: Tx, failed: Failed[]): Promise<Subscriber[]> {
  if (failed.length === 0) return [];
  return tx
    .select({ instanceId: cloudSubscriptions.instanceId, userId: cloudSubscriptions.userId })
    .from(cloudSubscriptions)
    .innerJoin(users, and(eq(users.tenantId, cloudSubscriptions.tenantId), eq(users.id, cloudSubscriptions.userId)))
    .where(
      inArray(
        cloudSubscriptions.instanceId,
        failed.map(({ instanceId }) => instanceId),
      ),
    )
    .for('key share', { of: users });
}

async function beginOutages(tx: Tx, tenantId: string, failed: Failed[], subscribers: Subscriber[]): Promise<number> {
  if (failed.length === 0) return 0;
  const outages = failed.map((event) => ({ ...event, id: newId() }));
  await tx.insert(cloudOutages).values(
    outages.map(({ id, instanceId, failure, message, failingSince }) => ({
      id,
      tenantId,
      instanceId,
      failure,
      message,
      failingSince: failingSince ?? sql`now()`,
      reportedAt: sql`now()`,
    })),
  );
  const outageOf = new Map(outages.map((outage) => [outage.instanceId, outage]));
  const notices = subscribers.flatMap(({ instanceId, userId }) => {
    const outage = outageOf.get(instanceId);
    return outage ? [{ outage, userId }] : [];
  });
  if (notices.length === 0) return 0;
  for (const portion of portions(notices))
    await tx
      .insert(cloudOutageNotices)
      .values(portion.map(({ outage, userId }) => ({ tenantId, outageId: outage.id, userId })));
  const dueTimes = await dueTimesFor(
    tx,
    notices.filter(({ outage }) => outage.failure === 'netz').map(({ userId }) => userId),
  );
  await queueMails(
    tx,
    cloudFailedMail,
    notices.map(({ outage, userId }) => {
      const dueAt = outage.failure === 'netz' ? dueTimes?.(userId) : undefined;
      return {
        tenantId,
        key: `cloud-status/failed/${outage.id}/${userId}`,
        userId,
        data: { outageId: outage.id },
        ...(dueAt && { dueAt }),
      };
    }),
  );
  return notices.length;
}

/**
 * When failure mails are due. If one cause may explain many failures, wait briefly so that one mail can cover them; for a user who was
 * just mailed, until ten minutes after that mail.
 */
async function dueTimesFor(tx: Tx, userIds: string[]): Promise<((userId: string) => Date) | null> {
  if (userIds.length === 0 || (await tx.$count(cloudInstances, eq(cloudInstances.isActive, true))) < massOutage.min)
    return null;
  const latest = await tx
    .select({
      userId: cloudOutageNotices.userId,
      sentAt: sql<Date>`max(${cloudOutageNotices.sentAt})`.mapWith(cloudOutageNotices.sentAt),
    })
    .from(cloudOutageNotices)
    .where(
      and(
        inArray(cloudOutageNotices.userId, userIds),
        gt(cloudOutageNotices.sentAt, sql`now() - make_interval(mins => ${massOutage.windowMin})`),
        ne(cloudOutageNotices.mailedWith, cloudOutageNotices.outageId),
      ),
    )
    .groupBy(cloudOutageNotices.userId);
  const sentAt = new Map(latest.map((row) => [row.userId, row.sentAt.getTime()]));
  const { rows } = await tx.execute<{ ms: string }>(sql`select floor(extract(epoch from now()) * 1000) as ms`);
  const soon = Number(rows[0]?.ms) + gatheringMs;
  return (userId) => new Date(Math.max(soon, (sentAt.get(userId) ?? 0) + massOutage.windowMin * MINUTE));
}

async function endOutages(tx: Tx, tenantId: string, recovered: { instanceId: string }[]): Promise<number> {
  if (recovered.length === 0) return 0;
  const ended = await tx
    .update(cloudOutages)
    .set({ endedAt: sql`now()` })
    .where(
      and(
        inArray(
          cloudOutages.instanceId,
          recovered.map(({ instanceId }) => instanceId),
        ),
        isNull(cloudOutages.endedAt),
      ),
    )
    .returning({ id: cloudOutages.id });
  if (ended.length === 0) return 0;
  const notified = await tx
    .select({ outageId: cloudOutageNotices.outageId, userId: cloudOutageNotices.userId })
    .from(cloudOutageNotices)
    .where(
      and(
        inArray(
          cloudOutageNotices.outageId,
          ended.map(({ id }) => id),
        ),
        isNotNull(cloudOutageNotices.sentAt),
      ),
    );
  await queueRecoveryMails(tx, tenantId, notified);
  return notified.length;
}
