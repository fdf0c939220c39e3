import { Email, Username } from '../accounts/accounts.ts';
import { line } from '../text.ts';
import type { LdapField } from './config.ts';

/** An entry as the directory gave it; names of attributes are compared without regard to case. */
export interface DirectoryEntry {
  dn: string;
  /** The values as text, the first so many. */
  values(attribute: string, atMost?: number): string[];
  /** The first value as it was sent. */
  firstBytes(attribute: string): Uint8Array | undefined;
}

/** What a person of the directory fills of an account; null where the directory says nothing usable. */
export interface DirectoryPerson {
  /** What stays when a person is renamed or moved. */
  directoryId: string;
  dn: string;
  /** As it is stored; null when there is none an account can have. */
  username: string | null;
  email: string | null;
  /** Whether the directory has an address that is none. */
  hasBadEmail: boolean;
  displayName: string | null;
  firstName: string | null;
  lastName: string | null;
}

/** Which attributes fill which field, the first that has a value first. */
export type FieldSources = Record<LdapField, string[]>;

/** The attributes to ask for besides those of the mappings. */
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
 * The mappings by field, custom ones before the defaults as they come in. The username falls back to `uid` (contract section 5),
 * first and last name to the attributes every person's object class has for them.
 */
export function fieldSources(mappings: { ldapAttribute: string; field: LdapField }[]): FieldSources {
  const of = (field: LdapField, ...fallback: string[]) => [
    ...mappings.filter((mapping) => mapping.field === field).map(({ ldapAttribute }) => ldapAttribute),
    ...fallback,
  ];
  return {
    username: of('username', 'uid'),
    email: of('email'),
    displayName: of('displayName'),
    firstName: of('firstName', 'givenName'),
    lastName: of('lastName', 'sn'),
  };
}

export const attributesOf = (sources: FieldSources): string[] => [
  ...new Set([...Object.values(sources).flat(), ...personAttributes]),
];

const Name = line(200);
/** Values that are looked at for one that is not blank. */
const maxLooks = 100;

/** Reads what an account takes from the entry of that id. Values that do not fit are left out, never cut. */
export function personOf(entry: DirectoryEntry, directoryId: string, sources: FieldSources): DirectoryPerson {
  const raw = (field: LdapField): string | undefined => {
    for (const attribute of sources[field]) {
      for (const value of entry.values(attribute, maxLooks)) if (value.trim() !== '') return value;
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

/** The name of an entry as it is kept. A control character in it may be written as it is or as two hex digits (RFC 4514 section 2.4); not everything takes the former. */
export const dnOf = ({ dn }: Pick<DirectoryEntry, 'dn'>): string =>
  // oxlint-disable-next-line no-control-regex -- naming control characters is the purpose
  dn.replaceAll(/[\u0000-\u001f]/g, (control) => `\\${control.charCodeAt(0).toString(16).padStart(2, '0')}`);

// What the schemas of an account would say to these is known; asking them a hundred thousand times is most of the work.
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
  // No longer than what may stand before the @, which has a bound of its own.
  return lower.length <= 64 && plainEmail.test(lower) ? lower : (Email.safeParse(value).data ?? null);
};

/**
 * What identifies an entry for good: `objectGUID` of Active Directory, `entryUUID` (RFC 4530) of most others, `nsUniqueId` of
 * the 389 Directory Server. Null where a server has none of them.
 */
export function lastingIdOf(entry: DirectoryEntry): string | null {
  const guid = entry.firstBytes('objectGUID');
  if (guid?.length === 16) return guidText(guid);
  const id = entry.values('entryUUID')[0] ?? entry.values('nsUniqueId')[0];
  return id !== undefined && /^[!-~]{1,64}$/.test(id) ? id.toLowerCase() : null;
}

/** An objectGUID as Windows writes it: the first three groups are little-endian numbers, the others are bytes (MS-DTYP 2.3.4). */
export function guidText(guid: Uint8Array): string {
  const hex = [3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15].map((at) =>
    (guid[at] ?? 0).toString(16).padStart(2, '0'),
  );
  return [hex.slice(0, 4), hex.slice(4, 6), hex.slice(6, 8), hex.slice(8, 10), hex.slice(10)]
    .map((group) => group.join(''))
    .join('-');
}

/** A security identifier as text, `S-1-5-21-…-513` (MS-DTYP 2.4.2.2); null for bytes that are none. */
export function sidText(sid: Uint8Array): string | null {
  const view = new DataView(sid.buffer, sid.byteOffset, sid.byteLength);
  const count = sid[1];
  if (count === undefined || sid.length !== 8 + 4 * count) return null;
  const authority = view.getUint16(2) * 2 ** 32 + view.getUint32(4);
  const parts = Array.from({ length: count }, (_, at) => view.getUint32(8 + 4 * at, true));
  return ['S', sid[0], authority, ...parts].join('-');
}

/** The identifier of the group an Active Directory account has as its primary one; no group lists it as a member. */
export function primaryGroupSid(entry: DirectoryEntry): string | null {
  const [rid] = entry.values('primaryGroupID');
  const own = entry.firstBytes('objectSid');
  const sid = rid === undefined || own === undefined ? null : sidText(own);
  return sid === null ? null : `${sid.slice(0, sid.lastIndexOf('-'))}-${rid}`;
}

const accountDisabled = 0x2;
/** 100-nanosecond steps from 1601 to 1970, in milliseconds: the two epochs of FILETIME and Unix. */
const fileTimeEpochMs = 11_644_473_600_000n;
const neverExpires = new Set(['0', '9223372036854775807']);

/** Whether Active Directory keeps the account from signing in: switched off, or its last day is over at `now`. */
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
