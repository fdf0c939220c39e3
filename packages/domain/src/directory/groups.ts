import { canonicalDn, isUnder } from './dn.ts';
import { type DirectoryEntry, sidText } from './person.ts';

/** A directory group without its members. */
export interface DirectoryGroup {
  directoryId: string;
  /** The group's name in the portal: `sAMAccountName` in Active Directory, otherwise `cn`. */
  name: string;
}

export const groupAttributes = [
  'objectGUID',
  'entryUUID',
  'nsUniqueId',
  'objectSid',
  'sAMAccountName',
  'cn',
  'objectClass',
] as const;
/** Attributes that list the names of members. */
export const memberAttributes = ['member', 'uniqueMember'] as const;

const groupClasses = ['group', 'groupOfNames', 'groupOfUniqueNames', 'groupOfMembers'];
export const groupFilter = `(|${groupClasses.map((name) => `(objectClass=${name})`).join('')})`;
const lowerGroupClasses = new Set(groupClasses.map((name) => name.toLowerCase()));

export const isGroup = (entry: DirectoryEntry): boolean =>
  entry.values('objectClass').some((name) => lowerGroupClasses.has(name.toLowerCase()));

/** Approximate memory of a graph in bytes, without the text of names. */
const bytesOf = { group: 400, name: 60, list: 130, position: 8 };
/** Above this many direct groups, one traversal replaces the cached closures, because each closure may contain all groups. */
const maxClosures = 100;

/**
 * The groups of a directory and their members, including nested and circular groups. Add all groups and members first, then ask for
 * the groups of each person. A position in `groups` identifies a group.
 */
export class GroupGraph {
  readonly groups: DirectoryGroup[] = [];
  readonly #positionByDn = new Map<string, number>();
  readonly #positionById = new Map<string, number>();
  readonly #positionBySid = new Map<string, number>();
  /** Maps a member's name to the groups that list it directly. */
  readonly #namedBy = new Map<string, number | number[]>();
  /** For each group, all groups that contain it, including itself; computed on first use. */
  readonly #closures: (readonly number[] | undefined)[] = [];
  readonly #dns: string[] = [];
  readonly #take: (bytes: number) => void;

  /** The graph calls `take` with the approximate number of bytes it adds. `take` may throw. */
  constructor(take: (bytes: number) => void = () => undefined) {
    this.#take = take;
  }

  /** Adds a group and returns its position. A known group stays unchanged, even if it was renamed between two pages. */
  add(entry: DirectoryEntry, directoryId: string): number {
    const dn = canonicalDn(entry.dn);
    const known = this.#positionByDn.get(dn) ?? this.#positionById.get(directoryId);
    if (known !== undefined) {
      this.#positionByDn.set(dn, known);
      return known;
    }
    const position = this.groups.length;
    this.#take(bytesOf.group + dn.length);
    this.#positionById.set(directoryId, position);
    this.groups.push({ directoryId, name: groupName(entry) });
    this.#dns.push(dn);
    this.#positionByDn.set(dn, position);
    const sid = entry.firstBytes('objectSid');
    const text = sid === undefined ? null : sidText(sid);
    if (text !== null) this.#positionBySid.set(text, position);
    return position;
  }

  addMembers(position: number, members: string[]): void {
    for (const member of members) {
      const dn = canonicalDn(member);
      const known = this.#namedBy.get(dn);
      if (known === undefined) {
        this.#take(bytesOf.name + dn.length);
        this.#namedBy.set(dn, position);
      } else if (typeof known === 'number') {
        if (known === position) continue;
        this.#take(bytesOf.list);
        this.#namedBy.set(dn, [known, position]);
      } else if (known.at(-1) !== position) {
        this.#take(bytesOf.position);
        known.push(position);
      }
    }
  }

  /** The position of the group with this canonical name. */
  positionOf(dn: string): number | undefined {
    return this.#positionByDn.get(dn);
  }

  /**
   * Positions of all groups of a person, ascending: groups that list the person, groups the person lists, the primary group, and all
   * groups that contain these. Names are in canonical form.
   */
  groupsOf(person: { dn: string; memberOf: string[]; primaryGroupSid: string | null }): number[] {
    const direct = new Set<number>(this.#naming(person.dn));
    for (const dn of person.memberOf) addTo(direct, this.#positionByDn.get(dn));
    if (person.primaryGroupSid !== null) addTo(direct, this.#positionBySid.get(person.primaryGroupSid));
    if (direct.size > maxClosures) return inOrder(this.#reach(direct));
    if (direct.size < 2) return [...direct].flatMap((position) => this.#closureOf(position));
    const all = new Set<number>();
    for (const position of direct) for (const one of this.#closureOf(position)) all.add(one);
    return inOrder(all);
  }

  /** These groups and all groups that contain them. */
  #reach(positions: Iterable<number>): Set<number> {
    const reached = new Set(positions);
    for (const position of reached) for (const parent of this.#naming(this.#dns[position] ?? '')) reached.add(parent);
    return reached;
  }

  #naming(dn: string): readonly number[] {
    const named = this.#namedBy.get(dn);
    return named === undefined ? [] : typeof named === 'number' ? [named] : named;
  }

  #closureOf(start: number): readonly number[] {
    const known = this.#closures[start];
    if (known) return known;
    const closure = inOrder(this.#reach([start]));
    this.#take(bytesOf.position * closure.length);
    this.#closures[start] = closure;
    return closure;
  }
}

const inOrder = (positions: Set<number>): number[] => [...positions].toSorted((a, b) => a - b);

function addTo(positions: Set<number>, position: number | undefined): void {
  if (position !== undefined) positions.add(position);
}

/** Who may have an account: every person, or only the members of these groups and the entries below these bases. */
export interface Admission {
  /** Admits every person. */
  isOpen: boolean;
  groups: Set<number>;
  /** In canonical form. */
  bases: string[];
}

/** Whether a person with this canonical name and these groups may have an account. */
export const isAdmitted = ({ isOpen, groups, bases }: Admission, dn: string, memberOf: number[]): boolean =>
  isOpen || memberOf.some((position) => groups.has(position)) || bases.some((base) => isUnder(dn, base));

const maxName = 200;
// oxlint-disable-next-line no-control-regex -- a one-line name must not contain them
const breaks = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\s]+/gu;

function groupName(entry: DirectoryEntry): string {
  const name = entry.values('sAMAccountName')[0] ?? entry.values('cn')[0] ?? '';
  // Truncate first: cleaning megabytes is slow.
  const line = name
    .slice(0, 10 * maxName)
    .normalize('NFC')
    .replaceAll(breaks, ' ')
    .trim();
  return [...line].slice(0, maxName).join('') || 'unnamed';
}
