import { ServerFailure } from '@portal/connectors/servers/server-failure';
import { openServer, type TicketPlace } from '@portal/connectors/servers/server-session';
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

const ticketBox = resource(() => openTicketBox());

type Outcome = { poll: Evaluation } | { miss: { failure: FailureClass; message: string } };

/** Looks at one server and writes what was found, unless it was changed, switched off or removed meanwhile. */
export async function pollServer(
  ctx: TenantContext,
  id: string,
  { rows, signal }: { rows: ServerRows; signal: AbortSignal },
): Promise<void> {
  const row = await rows.begin(id);
  if (!row) return;
  const { server, status, memory: stored } = row;
  const state = pollStateOf(stored);
  const begunAt = performance.now();
  const tickets = ticketBox(ctx).placeFor(`${server.id}/${server.revision}`);
  const outcome = await outcomeOf(ctx, server, { state, tickets, signal });
  const before = status ?? neverChecked;
  const at = new Date();
  const isWritten = await rows.write({
    server,
    status: 'poll' in outcome ? afterPoll(before, outcome.poll, at) : afterMiss(before, outcome.miss, at),
    // What was begun and not finished is begun anew.
    memory: 'poll' in outcome ? state : pollStateOf(stored),
    tookMs: Math.round(performance.now() - begunAt),
  });
  ctx.metrics.countPoll(server.kind, !isWritten ? 'dropped' : 'poll' in outcome ? 'read' : outcome.miss.failure);
}

async function outcomeOf(
  ctx: TenantContext,
  stored: StoredServer,
  { state, tickets, signal }: { state: PollState; tickets: TicketPlace; signal: AbortSignal },
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
    // An answer nobody thought of must not be the end of the run, nor look like a server that is well.
    ctx.log.error(
      { err: error, tenantId: ctx.tenantId, serverId: stored.id },
      'what a server answered cannot be evaluated',
    );
    return {
      miss: { failure: 'antwortform', message: 'The server answered with something that cannot be evaluated.' },
    };
  }
}

/** More than a process looks at between two sign-ins. */
const maxPlaces = 10_000;

/** Keeps the tickets of servers in the memory of the process and nowhere else; what was not used for longest goes first. */
function openTicketBox() {
  const places = new Map<string, TicketPlace>();
  return {
    /** `key` names the server as it is stored: a changed one begins without a ticket. */
    placeFor(key: string): TicketPlace {
      const place = places.get(key) ?? { ticket: null };
      places.delete(key);
      places.set(key, place);
      const [oldest] = places.keys();
      if (places.size > maxPlaces && oldest !== undefined) places.delete(oldest);
      return place;
    },
  };
}
