import { entryOverheadBytes } from '@portal/connectors/ldap/connection';
import type { LdapEntry } from '@portal/connectors/ldap/entry';
import { canonicalDn } from '@portal/domain/directory/dn';
import { isAdmitted } from '@portal/domain/directory/groups';
import { dnOf, expiryOf, isSwitchedOff, personOf, primaryGroupSid } from '@portal/domain/directory/person';
import { upstream } from '@portal/domain/errors';
import { takingTurns } from '@portal/platform/take-turns';
import { directoryIdOf } from '../directory-id.ts';
import { excludedNames } from '../stored-ldap-config.ts';
import type { DirectoryReading } from './read-directory.ts';
import type { GroupsRead } from './read-groups.ts';
import { fingerprintOf, hashBelonging, type Known, type Snapshot } from './snapshot.ts';
import { type StagedPerson, type Standing, stagePeople } from './stage.ts';

/** Entries held while the snapshot is still being loaded, and their bytes. */
const maxEarly = 50_000;
const maxEarlyBytes = 16 * 1024 * 1024;
/** A person in ten thousand groups has less. More keeps others waiting while it is read. */
const maxPersonBytes = 1024 * 1024;
/** People who go onto the stage together, and what they may weigh. */
const portion = 2_000;
const portionBytes = 4 * 1024 * 1024;
/** About what is kept of a person to the end, and for each of its groups, though these are only kept by the database. */
const bytesOf = { person: 100, group: 4 };

/** Takes the people of a directory page by page; whoever the snapshot does not vouch for goes onto the stage. */
export class PeopleReader implements AsyncDisposable {
  live = 0;
  readonly #reading: DirectoryReading;
  readonly #found: GroupsRead;
  readonly #loading: Promise<Known>;
  readonly #excluded: Set<string>;
  #isLoading = true;
  #expected = 0;
  #early: LdapEntry[] = [];
  #earlyBytes = 0;
  /** Of copies of early ones, which outlast their page. */
  #copiedBytes = 0;
  #snapshot: Snapshot | null = null;
  /** For each of the intact whether the person has passed by. */
  #passed = new Uint8Array(0);
  #passedCount = 0;
  /** Places of the intact by their directory ids; made when first asked for. */
  #placeById: Map<string, number> | null = null;
  /** Directory ids of all on the stage. */
  readonly #staged = new Set<string>();
  #waiting: StagedPerson[] = [];
  #waitingBytes = 0;
  #storing = Promise.resolve();
  readonly #othersTurn: () => Promise<void>;

  constructor(reading: DirectoryReading, found: GroupsRead, loading: Promise<Known>) {
    this.#reading = reading;
    this.#found = found;
    this.#loading = loading;
    this.#excluded = excludedNames(reading.config);
    this.#othersTurn = takingTurns(reading.signal);
    loading.then(
      ({ snapshot, active }) => {
        this.#isLoading = false;
        this.#snapshot = snapshot;
        this.#passed = new Uint8Array(snapshot?.intact.count ?? 0);
        this.#expected = active;
      },
      () => {
        this.#isLoading = false;
      },
    );
  }

  /** How many people there were so far. */
  get count(): number {
    return this.#passedCount + this.#staged.size + this.#early.length;
  }

  /** About how many there will be, as far as that is known yet. */
  get expected(): number {
    return Math.max(this.count, this.#expected);
  }

  get staged(): number {
    return this.#staged.size;
  }

  /** After all pages, directory ids of all whose account or memberships may change; null for everybody. */
  get changed(): string[] | null {
    if (this.#snapshot === null) return null;
    const { intact, suspects } = this.#snapshot;
    const gone = [...this.#passed.keys()].filter((place) => this.#passed[place] === 0);
    return [...new Set([...this.#staged, ...suspects, ...gone.map((place) => intact.directoryId(place))])];
  }

  isRead(directoryId: string): boolean {
    if (this.#staged.has(directoryId)) return true;
    const { intact } = this.#snapshot ?? {};
    this.#placeById ??= new Map([...this.#passed.keys()].map((place) => [intact?.directoryId(place) ?? '', place]));
    return this.#passed[this.#placeById.get(directoryId) ?? -1] === 1;
  }

  async take(page: LdapEntry[]): Promise<void> {
    // The first pages come while the database is still comparing.
    const isEarly = this.#isLoading;
    for (const entry of page) {
      if (entry.raw.length > maxPersonBytes) throw tooLargePerson();
      const bytes = entry.raw.length + entryOverheadBytes;
      if (isEarly) this.#copied(bytes);
      this.#early.push(isEarly ? entry.copy() : entry);
      this.#earlyBytes += bytes;
    }
    const isFull = this.#early.length >= maxEarly || this.#earlyBytes >= maxEarlyBytes;
    if (!this.#isLoading || isFull) await this.#takeAll();
  }

  /** Returns when all who are not as before are on the stage. */
  async finish(): Promise<void> {
    await this.#takeAll();
    if (this.#waiting.length > 0) await this.#store();
    await this.#storing;
  }

  /** Whatever comes next must not meet people who are still on their way to the stage. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#storing.catch(() => undefined);
  }

  async #takeAll(): Promise<void> {
    await this.#loading;
    for (const entry of this.#early) {
      await this.#othersTurn();
      const fingerprint = fingerprintOf(entry.raw);
      if (await this.#passes(entry, fingerprint)) continue;
      await this.#putAside(entry, fingerprint);
      if (this.#waiting.length >= portion || this.#waitingBytes >= portionBytes) await this.#store();
    }
    this.#early = [];
    this.#earlyBytes = 0;
    this.#copied(-this.#copiedBytes);
  }

  #copied(bytes: number): void {
    this.#copiedBytes += bytes;
    this.#reading.memory.take(bytes);
  }

  /** Whether the snapshot vouches for somebody: the entry is as before, in the same groups and as much in the include list. */
  async #passes(entry: LdapEntry, fingerprint: string): Promise<boolean> {
    if (this.#snapshot === null) return false;
    const { intact, groupsDigest } = this.#snapshot;
    const place = intact.find(fingerprint);
    if (place < 0) return false;
    // A directory that changes while it is read may show one person on two pages.
    if (this.#passed[place] === 1) return true;
    if (this.#staged.size > 0 && this.#staged.has(intact.directoryId(place))) return true;
    const hasSameGroups = groupsDigest === this.#found.digest;
    if (!hasSameGroups && (await this.#belongingOf(entry)).belonging !== intact.belonging(place)) return false;
    this.#passed[place] = 1;
    this.#passedCount += 1;
    if (intact.isLive(place)) this.live += 1;
    return true;
  }

  async #putAside(entry: LdapEntry, fingerprint: string): Promise<void> {
    const person = personOf(entry, directoryIdOf(entry), this.#reading.sources);
    if (this.isRead(person.directoryId)) return;
    const { groups, belonging, isIn } = await this.#belongingOf(entry);
    this.#reading.memory.take(bytesOf.person + bytesOf.group * groups.length);
    const standing = this.#standingOf(person.username, isIn, isSwitchedOff(entry, this.#reading.now));
    const expires = standing === 'live' ? expiryOf(entry) : null;
    this.#staged.add(person.directoryId);
    if (standing === 'live') this.live += 1;
    const expiresMs = expires === null ? null : Number(expires);
    const base64 = Buffer.from(fingerprint, 'latin1').toString('base64');
    this.#waitingBytes += entry.raw.length + 8 * groups.length;
    this.#waiting.push({ ...person, standing, groups, fingerprint: base64, belonging, expiresMs });
  }

  async #belongingOf(entry: LdapEntry): Promise<{ groups: number[]; belonging: string; isIn: boolean }> {
    const { graph, admission } = await this.#found.belonging();
    const dn = canonicalDn(dnOf(entry));
    const memberOf: string[] = [];
    for (const names of entry.valuePortions('memberOf')) {
      await this.#othersTurn();
      memberOf.push(...names.map(canonicalDn));
    }
    const groups = graph.groupsOf({ dn, memberOf, primaryGroupSid: primaryGroupSid(entry) });
    const isIn = isAdmitted(admission, dn, groups);
    const ids = groups.map((position) => graph.groups[position]?.directoryId ?? '');
    return { groups, belonging: hashBelonging(ids, isIn), isIn };
  }

  #standingOf(username: string | null, isIn: boolean, isOff: boolean): Standing {
    if (username !== null && this.#excluded.has(username)) return 'excluded';
    if (!isIn) return 'outside';
    return isOff ? 'switched_off' : 'live';
  }

  async #store(): Promise<void> {
    // One portion is stored while the next is read; no more than these two are held.
    await this.#storing;
    this.#storing = stagePeople(this.#reading.stage, this.#waiting);
    this.#storing.catch(() => undefined);
    this.#waiting = [];
    this.#waitingBytes = 0;
  }
}

const tooLargePerson = () =>
  upstream(
    'DIRECTORY_UNAVAILABLE',
    'The directory has a person of more than 1 MiB, which is more than can be taken in. Please choose a narrower filter or other mappings.',
  );
