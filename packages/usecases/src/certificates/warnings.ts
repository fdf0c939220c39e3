import type { PartKind, Warning } from '@portal/domain/certificates/certificates';
import { DAY } from '@portal/domain/time';
import type { Path } from './chains.ts';
import type { Findings } from './reading/findings.ts';
import type { Found, FoundCertificate } from './reading/found.ts';

const soonMs = 30 * DAY;
/** Browsers do not accept longer validities from public authorities. */
const longMs = 398 * DAY;

const serverAuth = ['1.3.6.1.5.5.7.3.1', '2.5.29.37.0'];
const weakHash = /md2|md4|md5|sha1(?!\d)|sha-1(?!\d)/i;

type Code = Warning['code'];

interface Facts {
  now: Date;
  hasServers: boolean;
  wrongIssuers: ReadonlySet<Found>;
  hasSeveralChains: (id: string) => boolean;
}

/** Warnings about a part. `partners` have the same public key. */
export function partWarnings(part: Found, kind: PartKind, partners: Found[], facts: Facts): Warning[] {
  const found: [Code, string][] = [];
  if (part.hasWeakKey) found.push(['WEAK_KEY', `${part.keyType} is too weak by today’s standards.`]);
  if (part.type === 'key' && facts.hasServers && partners.length === 0)
    found.push(['KEY_MISMATCH', 'No certificate among these files belongs to this key.']);
  if (part.type === 'certificate') {
    found.push(...timeWarnings(part, kind, facts.now));
    if (weakHash.test(part.signatureAlgorithm) && kind !== 'root')
      found.push(['WEAK_SIGNATURE', `It is signed with ${part.signatureAlgorithm}, which can be forged.`]);
    for (const oid of part.unreadable)
      found.push(['UNSUPPORTED', `Its extension ${oid} cannot be read, so its content is missing here.`]);
    if (facts.wrongIssuers.has(part))
      found.push(['NOT_CA', 'It issued another certificate without being an authority.']);
    if (kind === 'server') {
      found.push(...serverWarnings(part, partners));
      if (facts.hasSeveralChains(part.id)) found.push(['MULTIPLE_CHAINS', 'It has more than one chain.']);
    }
  }
  return found.map(([code, message]) => ({ code, part: part.id, message }));
}

function timeWarnings({ notBefore, notAfter }: FoundCertificate, kind: PartKind, now: Date): [Code, string][] {
  const found: [Code, string][] = [];
  if (notAfter < now) found.push(['EXPIRED', `It was valid until ${dayOf(notAfter)}.`]);
  else if (notAfter.getTime() - now.getTime() < soonMs)
    found.push(['EXPIRES_SOON', `It is valid until ${dayOf(notAfter)}.`]);
  if (notBefore > now) found.push(['NOT_YET_VALID', `It is not valid before ${dayOf(notBefore)}.`]);
  if (kind === 'server' && notAfter.getTime() - notBefore.getTime() > longMs)
    found.push([
      'LONG_VALIDITY',
      'It is valid for more than 398 days, which browsers accept only from private authorities.',
    ]);
  return found;
}

function serverWarnings(
  { extendedKeyUsage, sans, isSelfSigned }: FoundCertificate,
  partners: Found[],
): [Code, string][] {
  const found: [Code, string][] = [];
  if (isSelfSigned)
    found.push([
      'NOT_CA',
      'It is self-signed and not an authority, so clients trust it only if they are configured to.',
    ]);
  if (sans.length === 0)
    found.push(['NO_SAN', 'It has no subject alternative names, where browsers look for the host name.']);
  if (sans.some((name) => name.startsWith('*.'))) found.push(['WILDCARD', 'It is valid for every name of a domain.']);
  if (extendedKeyUsage && !extendedKeyUsage.some((usage) => serverAuth.includes(usage)))
    found.push(['NOT_SERVER_AUTH', 'It is not meant for servers.']);
  if (!partners.some(({ type }) => type === 'key')) found.push(['KEY_MISSING', 'Its key is not among these files.']);
  return found;
}

export function chainWarnings({ certificates, isComplete }: Path, now: Date): Warning[] {
  const [leaf, ...authorities] = certificates;
  const last = certificates.at(-1);
  if (!leaf || !last) return [];
  const found: Warning[] = authorities
    .filter(({ notAfter }) => notAfter < leaf.notAfter)
    .map(({ id, notAfter }) => ({
      code: 'CHAIN_EXPIRED',
      part: id,
      message: `It ${notAfter < now ? 'expired' : 'expires'} on ${dayOf(notAfter)}, before the first certificate of its chain.`,
    }));
  if (!isComplete) {
    const message = `The certificate of its issuer is not among these files.${whereIsIssuer(last)}`;
    found.push({ code: last === leaf ? 'CHAIN_INCOMPLETE' : 'ROOT_MISSING', part: last.id, message });
  }
  return found;
}

/** The address of the issuer's certificate, as a hint for the user. The portal does not fetch it. */
function whereIsIssuer({ infoAccess }: FoundCertificate): string {
  const uri = /^CA Issuers - URI:(.*)$/m.exec(infoAccess)?.[1]?.slice(0, 500);
  return uri ? ` According to this certificate, it is available at ${uri}` : '';
}

/** Warnings about files instead of parts. */
export function fileWarnings({ locked, rejected, ignored }: Findings): Warning[] {
  return [
    ...locked.map(({ file, reason }) => ({
      code: reason,
      message: reason === 'PASSWORD_REQUIRED' ? `${file} needs a password.` : `The password does not open ${file}.`,
    })),
    ...rejected.map(({ file, hint }) => ({ code: 'UNSUPPORTED' as const, message: `${file}: ${hint}` })),
    ...ignored.map(({ file, what }) => ({
      code: 'UNSUPPORTED' as const,
      message: `${file}: ${what} was ignored.`,
    })),
  ].map((warning) => ({ ...warning, part: null }));
}

const dayOf = (date: Date): string =>
  Number.isNaN(date.getTime()) ? 'an unknown day' : date.toISOString().slice(0, 10);
