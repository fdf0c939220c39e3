import type { Deadline } from './reading/deadline.ts';
import { type FoundCertificate, isSignedBy } from './reading/found.ts';

export interface Path {
  /** From the leaf upwards. */
  certificates: FoundCertificate[];
  /** Whether it ends in a certificate that signed itself. */
  isComplete: boolean;
}

const maxDepth = 10;
const maxPathsOfLeaf = 50;

export const isValidAt = ({ notBefore, notAfter }: FoundCertificate, now: Date): boolean =>
  notBefore <= now && now <= notAfter;

/** Who issued whom among certificates. */
export class Family {
  /** Certificates that issued another one without being an authority. */
  readonly wrongIssuers = new Set<FoundCertificate>();
  readonly #bySubject: Map<string, FoundCertificate[]>;
  readonly #parents = new Map<FoundCertificate, FoundCertificate[]>();
  readonly #now: Date;
  readonly #deadline: Deadline;

  constructor(certificates: FoundCertificate[], now: Date, deadline: Deadline) {
    this.#bySubject = Map.groupBy(certificates, ({ subject }) => nameOf(subject));
    this.#now = now;
    this.#deadline = deadline;
    for (const certificate of certificates) this.#parents.set(certificate, this.#findParents(certificate));
  }

  /** Certificates that issued this one, best first; it is not among them itself. */
  parentsOf(certificate: FoundCertificate): FoundCertificate[] {
    return this.#parents.get(certificate) ?? [];
  }

  /** Every certificate that issued another one. */
  issuers(): Set<FoundCertificate> {
    return new Set([...this.#parents.values()].flat());
  }

  /** Every way up from a certificate, best first. */
  pathsOf(leaf: FoundCertificate): Path[] {
    const paths: Path[] = [];
    const climb = (certificates: FoundCertificate[]) => {
      if (paths.length >= maxPathsOfLeaf) return;
      const last = certificates.at(-1) ?? leaf;
      const parents =
        last.isSelfSigned || certificates.length >= maxDepth
          ? []
          : this.parentsOf(last).filter(
              (parent) => hasRoomFor(parent, certificates) && !certificates.some((one) => isSameEntity(one, parent)),
            );
      if (parents.length === 0) paths.push({ certificates, isComplete: last.isSelfSigned });
      for (const parent of parents) climb([...certificates, parent]);
    };
    climb([leaf]);
    return this.bestFirst(paths);
  }

  /** Complete ones before others, valid ones before expired ones, short ones before long ones, then those that last longest. */
  bestFirst(paths: Path[]): Path[] {
    const ranked = paths.map((path) => {
      const { certificates, isComplete } = path;
      const rank = [
        certificates.some((one) => this.#isOutlived(one)),
        !isComplete,
        !certificates.every((one) => isValidAt(one, this.#now)),
        certificates.length,
        -Math.min(...certificates.map(({ notAfter }) => notAfter.getTime())),
      ].map(Number);
      return { path, rank };
    });
    return ranked
      .toSorted((a, b) => a.rank.map((value, at) => value - (b.rank[at] ?? 0)).find((difference) => difference) ?? 0)
      .map(({ path }) => path);
  }

  /** Whether it is not valid and stands beside a valid twin of the same name and key. */
  #isOutlived(certificate: FoundCertificate): boolean {
    if (isValidAt(certificate, this.#now)) return false;
    const namesakes = this.#bySubject.get(nameOf(certificate.subject)) ?? [];
    return namesakes.some((one) => isSameEntity(one, certificate) && isValidAt(one, this.#now));
  }

  #findParents(child: FoundCertificate): FoundCertificate[] {
    const parents = (this.#bySubject.get(nameOf(child.issuer)) ?? []).filter(
      (candidate) => candidate !== child && this.#isParent(candidate, child),
    );
    return parents.toSorted(
      (a, b) =>
        Number(isValidAt(b, this.#now)) - Number(isValidAt(a, this.#now)) ||
        Number(b.isSelfSigned) - Number(a.isSelfSigned),
    );
  }

  /**
   * Names, key ids and the signature itself have to fit. What there was no time to look at is taken for none. The runtime finds no key ids in
   * a certificate with an extension that cannot be read; there the signature decides.
   */
  #isParent(candidate: FoundCertificate, child: FoundCertificate): boolean {
    const { publicKey } = candidate;
    if (publicKey === null || this.#deadline.isPast || !isSignedBy(child.x509, publicKey)) return false;
    if (!candidate.isCa) this.wrongIssuers.add(candidate);
    const isReadable = candidate.unreadable.length + child.unreadable.length === 0;
    return candidate.isCa && (!isReadable || child.x509.checkIssued(candidate.x509));
  }
}

/** Names are the same whatever their case and spaces; `checkIssued` compares them to the letter of the standard. */
const nameOf = (name: string): string => name.toLowerCase().replace(/[ \t]+/g, ' ');

const isSameEntity = (one: FoundCertificate, other: FoundCertificate): boolean =>
  one.publicKeyId === other.publicKeyId && one.subject === other.subject;

/** Whether an authority lets so many others stand between it and the leaf; those that renewed themselves do not count. */
const hasRoomFor = (authority: FoundCertificate, below: FoundCertificate[]): boolean =>
  below.slice(1).filter(({ subject, issuer }) => subject !== issuer).length <= authority.pathLength;
