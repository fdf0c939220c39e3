import type { CalendarSource } from '@portal/client/interface';

/** A source as a person edits it. */
export interface SourceDraft {
  name: string;
  kind: CalendarSource['kind'];
  url: string;
  username: string;
  /** Empty keeps the stored one. */
  password: string;
  color: string;
  isActive: boolean;
}

/** Colours that can be told apart. */
const palette = ['#2563eb', '#dc2626', '#16a34a', '#d97706', '#9333ea', '#0891b2', '#db2777', '#65a30d'];

/** The first colours that no calendar has yet. */
export function freeColors(sources: readonly Pick<CalendarSource, 'color'>[], count: number): string[] {
  const used = new Set(sources.map(({ color }) => color.toLowerCase()));
  const free = palette.filter((color) => !used.has(color));
  const all = [...free, ...palette];
  return Array.from({ length: count }, (_, n) => all[n % all.length] ?? '#2563eb');
}

export const draftOf = (source: CalendarSource | undefined, color: string): SourceDraft => ({
  name: source?.name ?? '',
  kind: source?.kind ?? 'ics',
  url: source?.url ?? '',
  username: source?.username ?? '',
  password: '',
  color: source?.color ?? color,
  isActive: source?.isActive ?? true,
});

/** What the service takes. Without a username nobody signs in, so no password stays stored. */
export function bodyOf({ username, password, ...rest }: SourceDraft) {
  const account = username.trim();
  return { ...rest, username: account === '' ? null : account, password: account === '' ? null : password };
}

/** What decides where and as whom the calendar is read. A test says nothing about other values. */
export const accessOf = (draft: SourceDraft): string =>
  JSON.stringify([draft.kind, draft.url, draft.username, draft.password]);
