import { ServerFailure } from '@portal/connectors/servers/server-failure';
import { openServer, type TicketSlot } from '@portal/connectors/servers/server-session';
import type { FailureClass } from '@portal/domain/failure-class';
import type { Evaluation } from '@portal/domain/monitoring/findings';
import type { ServerKind } from '@portal/domain/monitoring/servers';
import { afterPoll, afterMiss, neverChecked } from '@portal/domain/monitoring/settle';
import type { TenantContext } from '@portal/platform/context';
import { resource } from '@portal/platform/resource';
import { largeAnswersFor } from '../large-answers.ts';
import { serverWith, type StoredServer } from '../stored-server.ts';
import { examineBackup } from './examine-backup.ts';
import { examineMailGateway } from './examine-mail-gateway.ts';
import { examineVirtualization } from './examine-virtualization.ts';
import { type PollState, pollStateOf } from './poll-state.ts';
import { pollTimeoutMs, type ServerPoll, openServerPoll } from './server-poll.ts';
import type { ServerRows } from './server-rows.ts';

const examine: Record<ServerKind, (poll: ServerPoll, state: PollState) => Promise<Evaluation>> = {
  virtualization: examineVirtualization,
  backup: examineBackup,
  'mail-gateway': examineMailGateway,
};

const ticketCache = resource(() => openTicketCache());

type Outcome = { poll: Evaluation } | { miss: { failure: FailureClass; message: string } };

/** Polls one server and stores the result, unless the server was changed, switched off or removed meanwhile. */
export async function pollServer(
  ctx: TenantContext,
  id: string,
  { rows, signal }: { rows: ServerRows; signal: AbortSignal },
): Promise<void> {
  const row = await rows.begin(id);
  if (!row) return;
  const { server, status, pollState: stored } = row;
  const state = pollStateOf(stored);
  const begunAt = performance.now();
  const tickets = ticketCache(ctx).slotFor(`${server.id}/${server.revision}`);
  const outcome = await outcomeOf(ctx, server, { state, tickets, signal });
  const before = status ?? neverChecked;
  const at = new Date();
  const isWritten = await rows.write({
    server,
    status: 'poll' in outcome ? afterPoll(before, outcome.poll, at) : afterMiss(before, outcome.miss, at),
    // A failed poll leaves the stored state unchanged.
    pollState: 'poll' in outcome ? state : pollStateOf(stored),
    figures: 'poll' in outcome ? outcome.poll.figures : {},
    tookMs: Math.round(performance.now() - begunAt),
  });
  ctx.metrics.countPoll(server.kind, !isWritten ? 'dropped' : 'poll' in outcome ? 'read' : outcome.miss.failure);
}

async function outcomeOf(
  ctx: TenantContext,
  stored: StoredServer,
  { state, tickets, signal }: { state: PollState; tickets: TicketSlot; signal: AbortSignal },
): Promise<Outcome> {
  const deadline = AbortSignal.timeout(pollTimeoutMs);
  try {
    using session = openServer(serverWith(ctx, stored, stored, undefined), {
      tickets,
      large: largeAnswersFor(ctx),
      signal: AbortSignal.any([signal, deadline]),
    });
    return { poll: await examine[stored.kind](openServerPoll(session, { deadline, signal }), state) };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ServerFailure) return { miss: error };
    // An unexpected answer must neither end the run nor make the server look healthy.
    ctx.log.error(
      { err: error, tenantId: ctx.tenantId, serverId: stored.id },
      'the answer of a server cannot be evaluated',
    );
    return {
      miss: { failure: 'antwortform', message: 'The server answered with something that cannot be evaluated.' },
    };
  }
}

/** More servers than a process polls within the lifetime of a ticket. */
const maxTickets = 10_000;

/** Keeps tickets of servers in process memory only. The least recently used ticket is dropped first. */
function openTicketCache() {
  const slots = new Map<string, TicketSlot>();
  return {
    /** `key` includes the revision of the server: a changed server starts without a ticket. */
    slotFor(key: string): TicketSlot {
      const slot = slots.get(key) ?? { ticket: null };
      slots.delete(key);
      slots.set(key, slot);
      const [oldest] = slots.keys();
      if (slots.size > maxTickets && oldest !== undefined) slots.delete(oldest);
      return slot;
    },
  };
}
