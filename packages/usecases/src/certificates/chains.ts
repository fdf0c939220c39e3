import type { Deadline } from './reading/deadline.ts';
import { type FoundCertificate, isSignedBy } from './reading/found.ts';

export interface Path {
  /** From the leaf upwards. */
  certificates: FoundCertificate[];
  /** Whether it ends with a self-signed certificate. */
  isComplete: boolean;
}

const maxDepth = 10;
const maxPathsOfLeaf = 50;

export const isValidAt = ({ notBefore, notAfter }: FoundCertificate, now: Date): boolean =>
  notBefore <= now && now <= notAfter;

/** The issuer relations among certificates. */
export class IssuerGraph {
  /** Certificates that issued others without being an authority. */
  readonly wrongIssuers = new Set<FoundCertificate>();
  readonly #bySubject: Map<string, FoundCertificate[]>;
  readonly #parents = new Map<FoundCertificate, FoundCertificate[]>();
  readonly #now: Date;
  readonly #deadline: Deadline;

  constructor(certificates: FoundCertificate[], now: Date, deadline: Deadline) {
    this.#bySubject = Map.groupBy(certificates, ({ subject }) => normalizedName(subject));
    this.#now = now;
    this.#deadline = deadline;
    for (const certificate of certificates) this.#parents.set(certificate, this.#findParents(certificate));
  }

  /** Other certificates that issued this one, best first. */
  parentsOf(certificate: FoundCertificate): FoundCertificate[] {
    return this.#parents.get(certificate) ?? [];
  }

  /** All certificates that issued another one. */
  issuers(): Set<FoundCertificate> {
    return new Set([...this.#parents.values()].flat());
  }

  /** All paths from a certificate to its issuers, best first. */
  pathsOf(leaf: FoundCertificate): Path[] {
    const paths: Path[] = [];
    const climb = (certificates: FoundCertificate[]) => {
      if (paths.length >= maxPathsOfLeaf) return;
      const last = certificates.at(-1) ?? leaf;
      const parents =
        last.isSelfSigned || certificates.length >= maxDepth
          ? []
          : this.parentsOf(last).filter(
              (parent) =>
                allowsPath(parent, certificates) && !certificates.some((other) => isSameEntity(other, parent)),
            );
      if (parents.length === 0) paths.push({ certificates, isComplete: last.isSelfSigned });
      for (const parent of parents) climb([...certificates, parent]);
    };
    climb([leaf]);
    return this.bestFirst(paths);
  }

  /** Prefers paths without superseded certificates, then complete, valid and short paths, then the longest validity. */
  bestFirst(paths: Path[]): Path[] {
    const ranked = paths.map((path) => {
      const { certificates, isComplete } = path;
      const rank = [
        certificates.some((certificate) => this.#isSuperseded(certificate)),
        !isComplete,
        !certificates.every((certificate) => isValidAt(certificate, this.#now)),
        certificates.length,
        -Math.min(...certificates.map(({ notAfter }) => notAfter.getTime())),
      ].map(Number);
      return { path, rank };
    });
    return ranked
      .toSorted((a, b) => a.rank.map((value, at) => value - (b.rank[at] ?? 0)).find((difference) => difference) ?? 0)
      .map(({ path }) => path);
  }

  /** Whether it is invalid and a valid certificate with the same name and key exists. */
  #isSuperseded(certificate: FoundCertificate): boolean {
    if (isValidAt(certificate, this.#now)) return false;
    const namesakes = this.#bySubject.get(normalizedName(certificate.subject)) ?? [];
    return namesakes.some((other) => isSameEntity(other, certificate) && isValidAt(other, this.#now));
  }

  #findParents(child: FoundCertificate): FoundCertificate[] {
    const parents = (this.#bySubject.get(normalizedName(child.issuer)) ?? []).filter(
      (candidate) => candidate !== child && this.#isParent(candidate, child),
    );
    return parents.toSorted(
      (a, b) =>
        Number(isValidAt(b, this.#now)) - Number(isValidAt(a, this.#now)) ||
        Number(b.isSelfSigned) - Number(a.isSelfSigned),
    );
  }

  /**
   * Names, key ids and the signature must match. Pairs that are not checked before the deadline do not count. The runtime finds no key ids
   * in a certificate with an unreadable extension; there the signature decides.
   */
  #isParent(candidate: FoundCertificate, child: FoundCertificate): boolean {
    const { publicKey } = candidate;
    if (publicKey === null || this.#deadline.isPast || !isSignedBy(child.x509, publicKey)) return false;
    if (!candidate.isCa) this.wrongIssuers.add(candidate);
    const isReadable = candidate.unreadable.length + child.unreadable.length === 0;
    return candidate.isCa && (!isReadable || child.x509.checkIssued(candidate.x509));
  }
}

/** Ignores case and spacing; `checkIssued` then compares names exactly as the standard requires. */
const normalizedName = (name: string): string => name.toLowerCase().replace(/[ \t]+/g, ' ');

const isSameEntity = (a: FoundCertificate, b: FoundCertificate): boolean =>
  a.publicKeyId === b.publicKeyId && a.subject === b.subject;

/** Whether the path length of an authority allows the certificates below it. Self-issued certificates do not count. */
const allowsPath = (authority: FoundCertificate, below: FoundCertificate[]): boolean =>
  below.slice(1).filter(({ subject, issuer }) => subject !== issuer).length <= authority.pathLength;
