import { hash } from 'node:crypto';
import { canonicalDn } from '@portal/domain/directory/dn';
import { type DirectoryEntry, lastingIdOf } from '@portal/domain/directory/person';

/** What identifies an entry. Where a server gives no lasting id only the name is left, and then a move is found by the username. */
export const directoryIdOf = (entry: DirectoryEntry): string =>
  lastingIdOf(entry) ?? `dn:${hash('sha256', canonicalDn(entry.dn))}`;
