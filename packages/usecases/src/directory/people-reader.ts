import type { LdapEntry } from '@portal/connectors/ldap/entry';
import { normalizeUsername } from '@portal/domain/accounts';
import { canonicalDn } from '@portal/domain/directory-dn';
import { type DirectoryGroup, isAdmitted } from '@portal/domain/directory-groups';
import { fingerprintOf, groupTranslation, type RememberedPerson } from '@portal/domain/directory-memory';
import { dnOf, expiryOf, isSwitchedOff, personOf, primaryGroupSid } from '@portal/domain/directory-person';
import type { LastReading, NewReading, Recalled } from './last-reading.ts';
import type { DirectoryReading } from './read-directory.ts';
import type { GroupsRead } from './read-groups.ts';
import { type StagedPerson, type Standing, stagePeople } from './staging.ts';

/** What a reading found that the last one did not leave behind. */
export interface News {
  groups: DirectoryGroup[];
  /** Positions of the groups that people whose accounts stay as they are belong to. */
  usedGroups: Set<number>;
  /** Directory ids of all whose account or groups may change; null for everybody. */
  changed: string[] | null;
  /** Whether the directory has this person. */
  isRead(directoryId: string): boolean;
  /** What the next reading begins from once all this is applied; `unsettled` are directory ids of those to be looked at again. */
  toRemember(unsettled: ReadonlySet<string>): NewReading;
}

/** Entries held while the last reading is still being recalled. */
const maxEarly = 50_000;
/** People per part of the stage. */
const partSize = 2_000;

/** Takes the people of a directory page by page; who is not as the last reading left them goes onto the stage. */
export class PeopleReader implements AsyncDisposable {
  live = 0;
  staged = 0;
  readonly #reading: DirectoryReading;
  readonly #groups: GroupsRead;
  readonly #rules: string;
  readonly #recalling: Promise<Recalled>;
  readonly #excluded: Set<string>;
  #isRecalling = true;
  #expected = 0;
  #early: LdapEntry[] = [];
  /** The last reading, if it went by the same rules and nobody has changed since what it left. */
  #last: LastReading | null = null;
  /** Directory ids of the groups it read, once details have been asked for. */
  #lastGroupIds: string[] | null = null;
  #hasSameGroups = false;
  /** For each place of the last reading whether its person was found unchanged. */
  #isUnchanged = new Uint8Array(0);
  #unchanged = 0;
  /** All others by their directory ids. */
  readonly #others = new Map<string, RememberedPerson>();
  #translation: ((groups: string) => string | null) | null = null;
  #waiting: StagedPerson[] = [];
  #parts = 0;
  #storing = Promise.resolve();

  constructor(
    reading: DirectoryReading,
    { groups, rules, recalling }: { groups: GroupsRead; rules: string; recalling: Promise<Recalled> },
  ) {
    this.#reading = reading;
    this.#groups = groups;
    this.#rules = rules;
    this.#recalling = recalling;
    this.#excluded = new Set(reading.config.userExcludeList.map(normalizeUsername));
    recalling.then(
      ({ active }) => {
        this.#isRecalling = false;
        this.#expected = active;
      },
      () => {
        this.#isRecalling = false;
      },
    );
  }

  /** How many people there were so far. */
  get count(): number {
    return this.#unchanged + this.#others.size;
  }

  /** About how many there will be, as far as that is known yet. */
  get expected(): number {
    return Math.max(this.count, this.#expected);
  }

  async take(page: LdapEntry[]): Promise<void> {
    // The first pages come while the database is still counting.
    this.#early.push(...page);
    if (!this.#isRecalling || this.#early.length >= maxEarly) await this.#takeAll();
  }

  /** Returns when all who are not as before are on the stage. */
  async finish(): Promise<void> {
    await this.#takeAll();
    if (this.#waiting.length > 0) await this.#store();
    await this.#storing;
  }

  /** Whatever comes next must not meet a part that is still on its way. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#storing.catch(() => undefined);
  }

  /** What is new after all pages; null for nothing. */
  async news(): Promise<News | null> {
    const last = this.#last;
    if (last && this.#hasSameGroups && this.#others.size === 0 && this.#unchanged === last.people.count) return null;
    if (last) await this.#askDetails(last);
    const { groups } = this.#groups.belonging().graph;
    const groupIds = groups.map(({ directoryId }) => directoryId);
    const places = [...this.#isUnchanged.keys()];
    const unchanged = places.filter((place) => this.#isUnchanged[place] === 1);
    const gone = places.filter((place) => this.#isUnchanged[place] === 0);
    const livePlaces = unchanged.filter((place) => last?.people.isLive(place));
    const lists = new Set(livePlaces.map((place) => this.#groupsNow(place) ?? ''));
    return {
      groups,
      usedGroups: new Set([...lists].flatMap((list) => (list === '' ? [] : list.split(',').map(Number)))),
      changed: last && [...new Set([...gone.map((place) => last.people.directoryId(place)), ...this.#others.keys()])],
      isRead: (directoryId) => this.#isRead(directoryId),
      toRemember: (unsettled) => ({
        rules: this.#rules,
        groupsDigest: this.#groups.digest,
        groupIds,
        people: this.#peopleToRemember(unchanged, unsettled, groupIds),
      }),
    };
  }

  async #takeAll(): Promise<void> {
    await this.#recall();
    for (const entry of this.#early) {
      const fingerprint = fingerprintOf(entry.raw);
      if (this.#passes(entry, fingerprint)) continue;
      if (this.#last && this.#lastGroupIds === null) await this.#askDetails(this.#last);
      this.#putAside(entry, fingerprint);
      if (this.#waiting.length >= partSize) await this.#store();
    }
    this.#early = [];
  }

  async #recall(): Promise<void> {
    if (this.#last) return;
    const { last } = await this.#recalling;
    if (last?.rules !== this.#rules) return;
    this.#last = last;
    this.#hasSameGroups = last.groupsDigest === this.#groups.digest;
    this.#isUnchanged = new Uint8Array(last.people.count);
    if (!this.#hasSameGroups) await this.#askDetails(last);
  }

  /** Nobody asks while all are as before: it is the larger part of what is remembered. */
  async #askDetails(last: LastReading): Promise<void> {
    this.#lastGroupIds ??= await last.details();
  }

  /** Whether the entry is that of somebody who is as the last reading left them. */
  #passes(entry: LdapEntry, fingerprint: string): boolean {
    const last = this.#last;
    const place = last?.people.find(fingerprint) ?? -1;
    if (last === null || place < 0) return false;
    // A directory that changes while it is read may show one person on two pages.
    if (this.#isUnchanged[place] === 1) return true;
    if (this.#others.size > 0 && this.#others.has(last.people.directoryId(place))) return true;
    if (last.people.mayExpire(place) && isSwitchedOff(entry, this.#reading.now)) return false;
    if (!this.#hasSameGroups && !this.#belongsAsBefore(entry, place, last)) return false;
    this.#isUnchanged[place] = 1;
    this.#unchanged += 1;
    if (last.people.isLive(place)) this.live += 1;
    return true;
  }

  /** Whether somebody whose entry is as before is in the same groups and as much in the include list, after groups have changed. */
  #belongsAsBefore(entry: LdapEntry, place: number, { people }: LastReading): boolean {
    const { groups, isAdmitted: isAdmittedNow } = this.#belongingOf(entry);
    if (isAdmittedNow !== people.isAdmitted(place)) return false;
    return !people.isLive(place) || groups.join(',') === this.#groupsNow(place);
  }

  #putAside(entry: LdapEntry, fingerprint: string): void {
    const person = personOf(entry, this.#reading.sources);
    if (this.#isRead(person.directoryId)) return;
    const { groups, isAdmitted: isAdmittedNow } = this.#belongingOf(entry);
    const standing = this.#standingOf(person.username, isAdmittedNow, isSwitchedOff(entry, this.#reading.now));
    const isLive = standing === 'live';
    const { directoryId } = person;
    this.#others.set(directoryId, {
      fingerprint,
      directoryId,
      isLive,
      isAdmitted: isAdmittedNow,
      mayExpire: isLive && expiryOf(entry) !== null,
      groups: isLive ? groups.join(',') : '',
    });
    if (isLive) this.live += 1;
    this.staged += 1;
    this.#waiting.push({ ...person, standing, groups });
  }

  #belongingOf(entry: LdapEntry): { groups: number[]; isAdmitted: boolean } {
    const { graph, admission } = this.#groups.belonging();
    const dn = canonicalDn(dnOf(entry));
    const groups = graph.groupsOf({ dn, memberOf: entry.values('memberOf'), primaryGroupSid: primaryGroupSid(entry) });
    return { groups, isAdmitted: isAdmitted(admission, dn, groups) };
  }

  #standingOf(username: string | null, isAdmittedNow: boolean, isOff: boolean): Standing {
    if (username !== null && this.#excluded.has(username)) return 'excluded';
    if (!isAdmittedNow) return 'outside';
    return isOff ? 'switched_off' : 'live';
  }

  #isRead(directoryId: string): boolean {
    if (this.#others.has(directoryId)) return true;
    const place = this.#last?.people.placeOf(directoryId);
    return place !== undefined && this.#isUnchanged[place] === 1;
  }

  /** The groups of a place of the last reading by their positions in this one. */
  #groupsNow(place: number): string | null {
    if (this.#last === null || this.#lastGroupIds === null) return null;
    const { graph } = this.#groups.belonging();
    this.#translation ??= groupTranslation(
      this.#lastGroupIds,
      graph.groups.map(({ directoryId }) => directoryId),
    );
    return this.#translation(this.#last.people.groups(place));
  }

  /** Those who are unchanged and all others; null when that is what the last reading left. */
  #peopleToRemember(
    unchanged: number[],
    unsettled: ReadonlySet<string>,
    groupIds: string[],
  ): RememberedPerson[] | null {
    const nobody = { fingerprint: null, isLive: false, isAdmitted: false, mayExpire: false, groups: '' };
    const others = [
      ...this.#others.values(),
      ...[...unsettled].filter((id) => !this.#others.has(id)).map((directoryId) => ({ ...nobody, directoryId })),
    ].map((person) => (unsettled.has(person.directoryId) ? { ...person, fingerprint: null } : person));
    const last = this.#last;
    if (last === null) return others;
    const wasUnsettled = (directoryId: string): boolean => {
      const place = last.people.placeOf(directoryId);
      return place !== undefined && !last.people.isKnown(place);
    };
    const isAsBefore =
      others.length === last.people.count - unchanged.length &&
      others.every(({ fingerprint, directoryId }) => fingerprint === null && wasUnsettled(directoryId)) &&
      groupIds.join() === this.#lastGroupIds?.join();
    if (isAsBefore) return null;
    return [
      ...unchanged.map((place) => ({ ...last.people.person(place), groups: this.#groupsNow(place) ?? '' })),
      ...others,
    ];
  }

  async #store(): Promise<void> {
    // One part is stored while the next is read; no more than these two are held.
    await this.#storing;
    this.#parts += 1;
    this.#storing = stagePeople(this.#reading.stage, this.#parts, this.#waiting);
    this.#storing.catch(() => undefined);
    this.#waiting = [];
  }
}
