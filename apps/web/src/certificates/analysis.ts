import type { CertificateAnalysis } from '@portal/client/interface';

export type Analysis = CertificateAnalysis;
export type Part = Analysis['parts'][number];
export type Chain = Analysis['chains'][number];
export type Warning = Part['warnings'][number];

export const isCertificate = ({ kind }: Part): boolean => kind !== 'key' && kind !== 'csr';

/** The limits of the service. */
export const limits = { files: 50, fileBytes: 1024 * 1024, requestBytes: 10 * 1024 * 1024 } as const;

/** What people call it: the common name of a subject or issuer, or else the whole. */
export function commonName(name: string | null): string | null {
  const found = /(?:^|, )CN ?= ?("?)((?:\\.|[^,\\])+)\1/.exec(name ?? '')?.[2];
  return found?.replaceAll(/\\(.)/g, '$1').trim() || name;
}

/** The name of a certificate or request; of a key, the file that contains it. */
export const nameOf = ({ subject, sans, files, sha256 }: Part): string =>
  commonName(subject) ?? sans[0] ?? files[0] ?? sha256.slice(0, 16);

/** The parts of other kinds with the same public key. */
export const partnersOf = (part: Part, kind: Part['kind'], { parts }: Analysis): Part[] =>
  parts.filter((other) => other.kind === kind && part.matches.includes(other.id));

const dayMs = 24 * 60 * 60 * 1_000;
const soonDays = 30;

export interface Validity {
  state: 'valid' | 'soon' | 'expired' | 'notYet' | 'unknown';
  /** Until it ends, or since; until it begins if it is not yet valid. */
  days: number;
}

export function validityOf({ notBefore, notAfter }: Part, nowMs = Date.now()): Validity {
  if (!notAfter) return { state: 'unknown', days: 0 };
  const begins = notBefore === null ? 0 : Date.parse(notBefore);
  const ends = Date.parse(notAfter);
  if (ends < nowMs) return { state: 'expired', days: Math.floor((nowMs - ends) / dayMs) };
  if (begins > nowMs) return { state: 'notYet', days: Math.ceil((begins - nowMs) / dayMs) };
  const days = Math.floor((ends - nowMs) / dayMs);
  return { state: days < soonDays ? 'soon' : 'valid', days };
}

/** The fingerprint as other programs show it. */
export const shownFingerprint = (sha256: string): string => sha256.toUpperCase().match(/../g)?.join(':') ?? sha256;
