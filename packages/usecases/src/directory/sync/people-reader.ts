import type { LdapEntry } from '@portal/connectors/ldap/entry';
import { canonicalDn } from '@portal/domain/directory/dn';
import { isAdmitted } from '@portal/domain/directory/groups';
import { isSwitchedOff, personOf, primaryGroupSid } from '@portal/domain/directory/person';
import { upstream } from '@portal/domain/errors';
import { yieldEvery } from '@portal/platform/yield-every';
import { directoryIdOf } from '../directory-id.ts';
import { excludedNames } from '../stored-ldap-config.ts';
import type { DirectoryReading } from './read-directory.ts';
import type { GroupsRead, Membership } from './read-groups.ts';
import { type StagedPerson, type Standing, stagePeople } from './stage.ts';

/** A person in ten thousand groups takes less. Reading more would block other work. */
const maxPersonBytes = 1024 * 1024;
/** Maximum people, and bytes, that go onto the stage together. */
const portion = 2_000;
const portionBytes = 4 * 1024 * 1024;
/** Approximate memory per person until the end of the run, and per group of a person, although only the database stores the groups. */
const bytesOf = { person: 100, group: 4 };

/** Reads the people of a directory page by page and puts them on the stage. */
export class PeopleReader implements AsyncDisposable {
  live = 0;
  readonly #reading: DirectoryReading;
  readonly #found: GroupsRead;
  readonly #excluded: Set<string>;
  /** Directory ids of all people on the stage. */
  readonly #staged = new Set<string>();
  #waiting: StagedPerson[] = [];
  #waitingBytes = 0;
  #storing = Promise.resolve();
  readonly #yieldIfDue: () => Promise<void> | undefined;
  #membership: Membership | undefined;

  constructor(reading: DirectoryReading, found: GroupsRead) {
    this.#reading = reading;
    this.#found = found;
    this.#excluded = excludedNames(reading.config);
    this.#yieldIfDue = yieldEvery(reading.signal);
  }

  /** How many people were read so far. */
  get count(): number {
    return this.#staged.size;
  }

  isRead(directoryId: string): boolean {
    return this.#staged.has(directoryId);
  }

  async take(page: LdapEntry[]): Promise<void> {
    for (const entry of page) {
      if (entry.raw.length > maxPersonBytes) throw tooLargePerson();
      const yielded = this.#yieldIfDue();
      if (yielded) await yielded;
      this.#membership ??= await this.#found.membership();
      const memberOf: string[] = [];
      for (const names of entry.valuePortions('memberOf')) {
        await this.#yieldIfDue();
        memberOf.push(...names.map(canonicalDn));
      }
      this.#add(entry, this.#membership, memberOf);
      if (this.#waiting.length >= portion || this.#waitingBytes >= portionBytes) await this.#store();
    }
  }

  /** Puts the remaining people on the stage. */
  async finish(): Promise<void> {
    if (this.#waiting.length > 0) await this.#store();
    await this.#storing;
  }

  /** Waits for pending writes, so that they cannot happen after later steps. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#storing.catch(() => undefined);
  }

  #add(entry: LdapEntry, { graph, admission }: Membership, memberOf: string[]): void {
    const directoryId = directoryIdOf(entry);
    const count = this.count;
    // A directory that changes during the read may return one person on two pages.
    if (this.#staged.add(directoryId).size === count) return;
    const person = personOf(entry, directoryId, this.#reading.sources);
    const dn = canonicalDn(person.dn);
    const groups = graph.groupsOf({ dn, memberOf, primaryGroupSid: primaryGroupSid(entry) });
    this.#reading.memory.take(bytesOf.person + bytesOf.group * groups.length);
    const isIn = isAdmitted(admission, dn, groups);
    const standing = this.#standingOf(person.username, isIn, isSwitchedOff(entry, this.#reading.now));
    if (standing === 'live') this.live += 1;
    this.#waitingBytes += entry.raw.length + 8 * groups.length;
    this.#waiting.push({ ...person, standing, groups });
  }

  #standingOf(username: string | null, isIn: boolean, isOff: boolean): Standing {
    if (username !== null && this.#excluded.has(username)) return 'excluded';
    if (!isIn) return 'outside';
    return isOff ? 'switched_off' : 'live';
  }

  async #store(): Promise<void> {
    // Stores one portion while reading the next, so memory holds at most two portions.
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
    'The directory has a person of more than 1 MiB, which is more than the portal accepts. Please choose a narrower filter or other mappings.',
  );
