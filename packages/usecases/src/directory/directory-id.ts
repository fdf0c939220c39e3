import { hash } from 'node:crypto';
import { canonicalDn } from '@portal/domain/directory/dn';
import { type DirectoryEntry, lastingIdOf } from '@portal/domain/directory/person';

/** Identifies an entry. If a server has no permanent ids, the name replaces it; then a run recognizes a moved entry by its username. */
export const directoryIdOf = (entry: DirectoryEntry): string =>
  lastingIdOf(entry) ?? `dn:${hash('sha256', canonicalDn(entry.dn))}`;
