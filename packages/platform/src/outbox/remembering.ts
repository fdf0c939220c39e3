import type { Tx } from '@portal/db/open';
import { type AnyOutboxMail, type Attempt, mayHaveArrived, type OutboxMails } from './mail.ts';
import type { ClaimedMail } from './outbox.ts';

/** How a try ended, for the kind of its mail to remember. */
export interface Remembered {
  kind: Pick<AnyOutboxMail, 'remember'>;
  attempt: Attempt<unknown>;
}

/** What the kind of a mail is told of how this try ends. Nothing where its row cannot be read. */
export function remembered(
  kinds: OutboxMails,
  mail: Pick<ClaimedMail, 'tenantId' | 'kind' | 'data' | 'tries' | 'account' | 'interruptions'>,
  outcome: Attempt<unknown>['outcome'],
): Remembered | undefined {
  const { tenantId, tries, account } = mail;
  const kind = kinds.get(mail.kind);
  const row = kind?.data.safeParse(mail.data);
  if (!kind || !account || !row?.success) return undefined;
  const attempt = {
    tenantId,
    userId: account.id,
    data: row.data,
    tries,
    outcome,
    mayHaveArrived: mayHaveArrived(mail),
  };
  return { kind, attempt };
}

/** Tells each kind of all its tries at once, in the transaction that settles them. */
export async function rememberAll(tx: Tx, all: Remembered[]): Promise<void> {
  const byKind = Map.groupBy(all, ({ kind }) => kind);
  const tell = async ([kind, those]: [Remembered['kind'], Remembered[]]) =>
    kind.remember?.(
      tx,
      those.map(({ attempt }) => attempt),
    );
  await Promise.all([...byKind].map(tell));
}
