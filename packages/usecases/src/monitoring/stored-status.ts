import { serverStatuses } from '@portal/db/schema/monitoring/servers';
import type { StoredStatus } from '@portal/domain/monitoring/settle';

/** The status columns that users see. Queries select them flat, next to the columns of the server. */
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

/** All status columns. */
export const statusColumns = { ...shownStatusColumns, missed: serverStatuses.missed } satisfies Record<
  keyof StoredStatus,
  unknown
>;

type Documents = Pick<StoredStatus, 'facts' | 'rules' | 'notExamined' | 'changes'>;

/** Parses the columns of a status that are stored as JSON. */
export const readDocuments = (stored: Record<keyof Documents, string>): Documents => ({
  facts: JSON.parse(stored.facts),
  rules: JSON.parse(stored.rules),
  notExamined: JSON.parse(stored.notExamined),
  changes: JSON.parse(stored.changes),
});

type StatusRow = { [Key in keyof StoredStatus]: unknown };

/** Separates the status from the other columns; it is null before the first poll. */
export function splitStatus<Row extends StatusRow>(
  row: Row,
): { status: StoredStatus | null; others: Omit<Row, keyof StatusRow> } {
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
  const plain = { state, failure, message, checkedAt, lastOkAt, headline, missed } as Omit<
    StoredStatus,
    keyof Documents
  >;
  const stored = { facts, rules, notExamined, changes } as Record<keyof Documents, string>;
  return { status: { ...plain, ...readDocuments(stored) }, others };
}
