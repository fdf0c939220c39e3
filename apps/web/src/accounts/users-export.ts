import type { User } from '@portal/client/interface';
import { clockTimeAt, dayAt } from '../berlin-time.ts';
import { language } from '../language.ts';
import { csvText, type CsvValue, downloadCsv } from './csv-write.ts';
import { words } from './user-words.ts';
import type { UserFilter } from './users-filter.ts';
import { readAllUsers } from './users-queries.ts';
import { texts } from './users-texts.ts';

/** Saves all accounts that match as a file that spreadsheets open and that can be imported again. Returns their number. */
export async function exportUsers(filter: UserFilter): Promise<number> {
  const users = await readAllUsers(filter);
  const w = words.value;
  const header = [
    w.username,
    w.email,
    w.displayName,
    w.firstName,
    w.lastName,
    w.role,
    w.isActive,
    w.source,
    w.tenant,
    w.lastLogin,
    w.welcomeMail,
    w.created,
  ];
  saveCsv(texts.value.fileName, [header, ...users.map(cellsOf)]);
  return users.length;
}

function cellsOf(user: User): CsvValue[] {
  const w = words.value;
  return [
    user.username,
    user.email,
    user.displayName,
    user.firstName,
    user.lastName,
    w.roles[user.role],
    user.isActive ? w.yes : w.no,
    w.sources[user.source],
    user.tenantName,
    timeOf(user.lastLoginAt),
    timeOf(user.welcomeMailSentAt),
    timeOf(user.createdAt),
  ];
}

/** In a form that spreadsheets of every language read as a time. */
const timeOf = (instant: string | null): string | null => instant && clockTimeAt(instant).replace('T', ' ');

/** Saves rows as a file of today. Spreadsheets separate columns by what their language uses. */
export function saveCsv(name: string, rows: readonly (readonly CsvValue[])[]): void {
  downloadCsv(`${name}-${dayAt(Date.now())}.csv`, csvText(rows, language.value === 'de' ? ';' : ','));
}
