import type { Chain, CertificateAnalysis, Part, PartKind, Warning } from '@portal/domain/certificates/certificates';
import { Family, type Path } from './chains.ts';
import type { Deadline } from './reading/deadline.ts';
import type { Findings } from './reading/findings.ts';
import type { Found, FoundCertificate } from './reading/found.ts';
import { chainWarnings, fileWarnings, partWarnings } from './warnings.ts';

const order: PartKind[] = ['server', 'intermediate', 'root', 'key', 'csr'];
/** All chains of an answer together. */
const maxChains = 1_000;

/** What the findings are to each other. */
export function analysisOf(findings: Findings, now: Date, deadline: Deadline): CertificateAnalysis {
  const found = [...findings.parts.values()];
  const certificates = found.filter((part) => part.type === 'certificate');
  const family = new Family(certificates, now, deadline);
  const issuers = family.issuers();
  const kindOf = (part: Found): PartKind => (part.type === 'certificate' ? certificateKind(part, issuers) : part.type);

  const servers = certificates.filter((part) => kindOf(part) === 'server');
  const youngest = certificates.filter((part) => kindOf(part) === 'intermediate' && !issuers.has(part));
  const paths = (servers.length > 0 ? servers : youngest).map((leaf) => family.pathsOf(leaf));
  const chains = family
    .bestFirst(paths.flat())
    .slice(0, maxChains)
    .map((path) => chainOf(path, now));

  const byPublicKey = Map.groupBy(found, ({ publicKeyId, id }) => publicKeyId ?? id);
  const several = new Set(paths.filter(({ length }) => length > 1).map(([first]) => first?.certificates[0]?.id));
  const facts = {
    now,
    hasServers: servers.length > 0,
    wrongIssuers: family.wrongIssuers,
    hasSeveralChains: (id: string) => several.has(id),
  };
  const parts = found
    .map((part): Part => {
      const kind = kindOf(part);
      const partners = (byPublicKey.get(part.publicKeyId ?? part.id) ?? []).filter((other) => other !== part);
      return {
        ...describe(part),
        kind,
        matches: partners.map(({ id }) => id),
        warnings: partWarnings(part, kind, partners, facts),
      };
    })
    .toSorted((a, b) => order.indexOf(a.kind) - order.indexOf(b.kind));

  const warnings: Warning[] = [
    ...fileWarnings(findings),
    ...parts.flatMap((part) => part.warnings),
    ...chains.flatMap((chain) => chain.warnings),
  ];
  return { parts, chains, locked: findings.locked, rejected: findings.rejected, warnings };
}

/** One that signed itself and may issue others is a root; without that right it is a server's own. */
function certificateKind(part: FoundCertificate, issuers: Set<FoundCertificate>): PartKind {
  const isAuthority = part.isVersion1 ? issuers.has(part) : part.isCa;
  if (!isAuthority) return 'server';
  return part.isSelfSigned ? 'root' : 'intermediate';
}

const chainOf = (path: Path, now: Date): Chain => ({
  leaf: path.certificates[0]?.id ?? '',
  path: path.certificates.map(({ id }) => id),
  isComplete: path.isComplete,
  warnings: chainWarnings(path, now),
});

function describe(part: Found): Omit<Part, 'kind' | 'matches' | 'warnings'> {
  const common = { id: part.id, files: [...part.files], pem: part.pem, sha256: part.id, keyType: part.keyType };
  const nothing = { subject: null, issuer: null, serialNumber: null, notBefore: null, notAfter: null, sans: [] };
  if (part.type === 'key') return { ...common, ...nothing };
  if (part.type === 'csr') return { ...common, ...nothing, subject: part.subject || null, sans: part.sans };
  const { subject, issuer, serialNumber, notBefore, notAfter, sans } = part;
  return {
    ...common,
    subject: oneLine(subject),
    issuer: oneLine(issuer),
    serialNumber,
    notBefore: dateOf(notBefore),
    notAfter: dateOf(notAfter),
    sans,
  };
}

const oneLine = (name: string): string | null => name.replaceAll('\n', ', ') || null;

const dateOf = (date: Date): Date | null => (Number.isNaN(date.getTime()) ? null : date);
