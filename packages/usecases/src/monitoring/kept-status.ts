import { serverStatuses } from '@portal/db/schema/monitoring/servers';
import type { KeptStatus } from '@portal/domain/monitoring/settle';

/** What people see of the status of a server, beside other columns: rows are flat, so that one function made for them reads them. */
export const shownStatusColumns = {
  state: serverStatuses.state,
  failure: serverStatuses.failure,
  message: serverStatuses.message,
  checkedAt: serverStatuses.checkedAt,
  lastOkAt: serverStatuses.lastOkAt,
  headline: serverStatuses.headline,
  facts: serverStatuses.facts,
  rules: serverStatuses.rules,
  notExamined: serverStatuses.notExamined,
  changes: serverStatuses.changes,
};

/** All that is kept of it. */
export const statusColumns = { ...shownStatusColumns, missed: serverStatuses.missed } satisfies Record<
  keyof KeptStatus,
  unknown
>;

type Documents = Pick<KeptStatus, 'facts' | 'rules' | 'notExamined' | 'changes'>;

/** The parts of a status that are stored as JSON. */
export const readDocuments = (stored: Record<keyof Documents, string>): Documents => ({
  facts: JSON.parse(stored.facts),
  rules: JSON.parse(stored.rules),
  notExamined: JSON.parse(stored.notExamined),
  changes: JSON.parse(stored.changes),
});

type StatusRow = { [Key in keyof KeptStatus]: unknown };

/** Takes a row apart; the status is null before the first poll. */
export function splitStatus<Row extends StatusRow>(
  row: Row,
): { status: KeptStatus | null; others: Omit<Row, keyof StatusRow> } {
  const {
    state,
    failure,
    message,
    checkedAt,
    lastOkAt,
    headline,
    facts,
    rules,
    notExamined,
    changes,
    missed,
    ...others
  } = row;
  if (state === null) return { status: null, others };
  const plain = { state, failure, message, checkedAt, lastOkAt, headline, missed } as Omit<KeptStatus, keyof Documents>;
  const stored = { facts, rules, notExamined, changes } as Record<keyof Documents, string>;
  return { status: { ...plain, ...readDocuments(stored) }, others };
}
