import { Email, Username } from '../accounts/accounts.ts';
import { line } from '../text.ts';
import type { LdapField } from './config.ts';

/** A directory entry. Attribute names are not case-sensitive. */
export interface DirectoryEntry {
  dn: string;
  /** The values as text, at most the first `atMost`. */
  values(attribute: string, atMost?: number): string[];
  /** The first value as raw bytes. */
  firstBytes(attribute: string): Uint8Array | undefined;
}

/** The account fields that a directory person supplies; null where the directory has no usable value. */
export interface DirectoryPerson {
  /** Stays the same when the person is renamed or moved. */
  directoryId: string;
  dn: string;
  /** In its stored form; null if the directory has no valid username. */
  username: string | null;
  email: string | null;
  /** Whether the directory has an invalid address. */
  hasBadEmail: boolean;
  displayName: string | null;
  firstName: string | null;
  lastName: string | null;
}

/** The attributes that can fill each field, in order of precedence. */
export type FieldSources = Record<LdapField, string[]>;

/** The attributes to request besides the mapped ones. */
export const personAttributes = [
  'objectGUID',
  'entryUUID',
  'nsUniqueId',
  'userAccountControl',
  'accountExpires',
  'primaryGroupID',
  'objectSid',
  'memberOf',
] as const;

/**
 * Groups the mappings by field and keeps their order: custom mappings before the defaults. The username falls back to `uid`,
 * first and last name to the standard attributes of the person object class.
 */
export function fieldSources(mappings: { ldapAttribute: string; field: LdapField }[]): FieldSources {
  const sourcesOf = (field: LdapField, ...fallback: string[]) => [
    ...mappings.filter((mapping) => mapping.field === field).map(({ ldapAttribute }) => ldapAttribute),
    ...fallback,
  ];
  return {
    username: sourcesOf('username', 'uid'),
    email: sourcesOf('email'),
    displayName: sourcesOf('displayName'),
    firstName: sourcesOf('firstName', 'givenName'),
    lastName: sourcesOf('lastName', 'sn'),
  };
}

export const attributesOf = (sources: FieldSources): string[] => [
  ...new Set([...Object.values(sources).flat(), ...personAttributes]),
];

const Name = line(200);
/** How many values to search for one that is not blank. */
const maxValuesRead = 100;

/** Reads the account fields from an entry. Drops invalid values and never truncates them. */
export function personOf(entry: DirectoryEntry, directoryId: string, sources: FieldSources): DirectoryPerson {
  const raw = (field: LdapField): string | undefined => {
    for (const attribute of sources[field]) {
      for (const value of entry.values(attribute, maxValuesRead)) if (value.trim() !== '') return value;
    }
    return undefined;
  };
  const name = (field: LdapField): string | null => {
    const value = raw(field);
    if (value === undefined) return null;
    if (isPlainText(value)) return value.trim();
    return Name.safeParse(value).data ?? null;
  };
  const username = raw('username');
  const email = raw('email');
  const usableEmail = email === undefined ? null : readEmail(email);
  return {
    directoryId,
    dn: dnOf(entry),
    username: username === undefined ? null : readUsername(username),
    email: usableEmail,
    hasBadEmail: email !== undefined && usableEmail === null,
    displayName: name('displayName'),
    firstName: name('firstName'),
    lastName: name('lastName'),
  };
}

/**
 * The name of an entry in its stored form. Writes control characters as two hex digits, because not every server accepts the raw
 * form (RFC 4514 section 2.4 allows both).
 */
export const dnOf = ({ dn }: Pick<DirectoryEntry, 'dn'>): string =>
  // oxlint-disable-next-line no-control-regex -- naming control characters is the purpose
  dn.replaceAll(/[\u0000-\u001f]/g, (control) => `\\${control.charCodeAt(0).toString(16).padStart(2, '0')}`);

// Fast path: the account schemas accept these values unchanged, and calling them a hundred thousand times is most of the work.
const plainText = /^[ -~\u00a1-\u017f]{1,200}$/;
const plainUsername = /^[a-z0-9._@-]{1,128}$/;
const plainEmail = /^[a-z0-9]+(?:[._-][a-z0-9]+)*@[a-z0-9]+(?:[.-][a-z0-9]+)*\.[a-z]{2,20}$/;
const isPlainText = (value: string): boolean => plainText.test(value);

const readUsername = (value: string): string | null => {
  const lower = value.toLowerCase();
  return plainUsername.test(lower) ? lower : (Username.safeParse(value).data ?? null);
};

const readEmail = (value: string): string | null => {
  const lower = value.toLowerCase();
  // The part before the @ has its own limit of 64, so the whole must not exceed it here.
  return lower.length <= 64 && plainEmail.test(lower) ? lower : (Email.safeParse(value).data ?? null);
};

/**
 * The permanent identifier of an entry: `objectGUID` in Active Directory, `entryUUID` (RFC 4530) in most others, `nsUniqueId` in
 * the 389 Directory Server. Null if the server has none of them.
 */
export function lastingIdOf(entry: DirectoryEntry): string | null {
  const guid = entry.firstBytes('objectGUID');
  if (guid?.length === 16) return guidText(guid);
  const id = entry.values('entryUUID')[0] ?? entry.values('nsUniqueId')[0];
  return id !== undefined && /^[!-~]{1,64}$/.test(id) ? id.toLowerCase() : null;
}

/** Formats an objectGUID like Windows: the first three groups are little-endian numbers, the others are bytes (MS-DTYP 2.3.4). */
export function guidText(guid: Uint8Array): string {
  const hex = [3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15].map((at) =>
    (guid[at] ?? 0).toString(16).padStart(2, '0'),
  );
  return [hex.slice(0, 4), hex.slice(4, 6), hex.slice(6, 8), hex.slice(8, 10), hex.slice(10)]
    .map((group) => group.join(''))
    .join('-');
}

/** A security identifier as text, `S-1-5-21-…-513` (MS-DTYP 2.4.2.2); null for invalid bytes. */
export function sidText(sid: Uint8Array): string | null {
  const view = new DataView(sid.buffer, sid.byteOffset, sid.byteLength);
  const count = sid[1];
  if (count === undefined || sid.length !== 8 + 4 * count) return null;
  const authority = view.getUint16(2) * 2 ** 32 + view.getUint32(4);
  const parts = Array.from({ length: count }, (_, at) => view.getUint32(8 + 4 * at, true));
  return ['S', sid[0], authority, ...parts].join('-');
}

/** The security identifier of an Active Directory account's primary group, which does not list the account as a member. */
export function primaryGroupSid(entry: DirectoryEntry): string | null {
  const [rid] = entry.values('primaryGroupID');
  const own = entry.firstBytes('objectSid');
  const sid = rid === undefined || own === undefined ? null : sidText(own);
  return sid === null ? null : `${sid.slice(0, sid.lastIndexOf('-'))}-${rid}`;
}

const accountDisabled = 0x2;
/** Milliseconds from 1601 (the FILETIME epoch, counted in 100 ns steps) to 1970 (the Unix epoch). */
const fileTimeEpochMs = 11_644_473_600_000n;
const neverExpires = new Set(['0', '9223372036854775807']);

/** Whether Active Directory blocks the account: it is disabled, or it has expired at `now`. */
export function isSwitchedOff(entry: DirectoryEntry, now: Date): boolean {
  const [control] = entry.values('userAccountControl');
  if (control !== undefined && (Number(control) & accountDisabled) !== 0) return true;
  const expires = expiryOf(entry);
  return expires !== null && expires <= now.getTime();
}

/** When the account expires, in milliseconds since 1970; null for never. */
function expiryOf(entry: DirectoryEntry): bigint | null {
  const [expires] = entry.values('accountExpires');
  if (expires === undefined || neverExpires.has(expires) || !/^\d{1,19}$/.test(expires)) return null;
  return BigInt(expires) / 10_000n - fileTimeEpochMs;
}
