import type { LdapConfig } from '@portal/client/interface';

/** The directory settings as a person edits them. */
export interface SettingsDraft {
  serverUrl: string;
  startTls: boolean;
  skipTlsVerify: boolean;
  caCertificatePem: string;
  bindDn: string;
  /** Empty keeps the stored one. */
  bindPassword: string;
  baseDn: string;
  userFilter: string;
  includeDns: string[];
  /** One username a line. */
  userExcludeList: string;
  syncIntervalMin: string;
  isActive: boolean;
}

export const draftOf = (config: LdapConfig): SettingsDraft => ({
  serverUrl: config.serverUrl ?? '',
  startTls: config.startTls ?? false,
  skipTlsVerify: config.skipTlsVerify ?? false,
  caCertificatePem: config.caCertificatePem ?? '',
  bindDn: config.bindDn ?? '',
  bindPassword: '',
  baseDn: config.baseDn ?? '',
  userFilter: config.userFilter ?? '',
  includeDns: config.includeDns,
  userExcludeList: config.userExcludeList.join('\n'),
  syncIntervalMin: String(config.syncIntervalMin ?? 60),
  isActive: config.isActive ?? true,
});

/** What the service takes. */
export function bodyOf({ bindPassword, userExcludeList, syncIntervalMin, ...draft }: SettingsDraft) {
  return {
    ...draft,
    startTls: draft.startTls && !isEncrypted(draft.serverUrl),
    // An anonymous bind has no password, so nothing stays stored.
    bindPassword: draft.bindDn.trim() === '' ? null : bindPassword,
    userExcludeList: namesIn(userExcludeList),
    syncIntervalMin: syncIntervalMin.trim() === '' ? Number.NaN : Number(syncIntervalMin),
  };
}

/** Encrypted from the start, so that StartTLS makes no sense. */
export const isEncrypted = (serverUrl: string): boolean => /^\s*ldaps:/i.test(serverUrl);

export const namesIn = (lines: string): string[] =>
  lines
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

/** The value of the first part of a name: `cn=Sales,ou=Groups,…` → `Sales`. */
export const nameOfDn = (dn: string): string =>
  /^[^=]*=((?:\\.|[^,\\+])*)/.exec(dn)?.[1]?.replaceAll(/\\(.)/g, '$1') ?? dn;
