import type { Chain, CertificateAnalysis, Part, PartKind, Warning } from '@portal/domain/certificates/certificates';
import { IssuerGraph, type Path } from './chains.ts';
import type { Deadline } from './reading/deadline.ts';
import type { Findings } from './reading/findings.ts';
import type { Found, FoundCertificate } from './reading/found.ts';
import { chainWarnings, fileWarnings, partWarnings } from './warnings.ts';

const kindOrder: PartKind[] = ['server', 'intermediate', 'root', 'key', 'csr'];
/** Maximum chains in an answer. */
const maxChains = 1_000;

/** Relates the findings to each other: kinds, chains, matching keys and warnings. */
export function analysisOf(findings: Findings, now: Date, deadline: Deadline): CertificateAnalysis {
  const found = [...findings.parts.values()];
  const certificates = found.filter((part) => part.type === 'certificate');
  const graph = new IssuerGraph(certificates, now, deadline);
  const issuers = graph.issuers();
  const kindOf = (part: Found): PartKind => (part.type === 'certificate' ? certificateKind(part, issuers) : part.type);

  const servers = certificates.filter((part) => kindOf(part) === 'server');
  const lowestIntermediates = certificates.filter((part) => kindOf(part) === 'intermediate' && !issuers.has(part));
  const paths = (servers.length > 0 ? servers : lowestIntermediates).map((leaf) => graph.pathsOf(leaf));
  const chains = graph
    .bestFirst(paths.flat())
    .slice(0, maxChains)
    .map((path) => chainOf(path, now));

  const byPublicKey = Map.groupBy(found, ({ publicKeyId, id }) => publicKeyId ?? id);
  const withSeveralChains = new Set(
    paths.filter(({ length }) => length > 1).map(([first]) => first?.certificates[0]?.id),
  );
  const facts = {
    now,
    hasServers: servers.length > 0,
    wrongIssuers: graph.wrongIssuers,
    hasSeveralChains: (id: string) => withSeveralChains.has(id),
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
    .toSorted((a, b) => kindOrder.indexOf(a.kind) - kindOrder.indexOf(b.kind));

  const warnings: Warning[] = [
    ...fileWarnings(findings),
    ...parts.flatMap((part) => part.warnings),
    ...chains.flatMap((chain) => chain.warnings),
  ];
  return { parts, chains, locked: findings.locked, rejected: findings.rejected, warnings };
}

/** A self-signed certificate is a root if it can issue others, and otherwise a server certificate. */
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
