import { type Analysis, type Chain, commonName, isCertificate, type Part } from './analysis.ts';

/** An issuer whose certificate is not among the files. */
export interface MissingIssuer {
  kind: 'intermediate' | 'root';
  name: string;
  /** Where its certificate is said to be available. */
  address: string | null;
  /** The certificate that it issued. */
  issued: Part;
}

/** A certificate, or the issuer that is missing above the first one, with what was issued by it. */
export interface Branch {
  key: string;
  part: Part | null;
  missing: MissingIssuer | null;
  children: Branch[];
}

export interface ChainTrees {
  trees: Branch[];
  /** Further chains of a certificate, by its id. The tree shows the best one. */
  alternatives: Map<string, Chain[]>;
  /** Keys and requests that belong to no certificate of the trees. */
  loose: Part[];
}

/** The chains as trees, the roots on top. A certificate without a chain is a tree of its own. */
export function chainTrees({ parts, chains }: Analysis): ChainTrees {
  const byId = new Map(parts.map((part) => [part.id, part]));
  const best = new Map<string, Chain>();
  const alternatives = new Map<string, Chain[]>();
  for (const chain of chains) {
    if (!best.has(chain.leaf)) best.set(chain.leaf, chain);
    else alternatives.set(chain.leaf, [...(alternatives.get(chain.leaf) ?? []), chain]);
  }

  const trees: Branch[] = [];
  const shown = new Set<string>();
  for (const chain of best.values()) {
    let level = trees;
    const missing = missingOf(chain, byId);
    if (missing) level = branchAt(level, `missing ${missing.name}`, null, missing).children;
    for (const id of chain.path.toReversed()) {
      const part = byId.get(id);
      if (!part) continue;
      shown.add(id);
      level = branchAt(level, id, part, null).children;
    }
  }
  for (const part of parts) if (isCertificate(part) && !shown.has(part.id)) branchAt(trees, part.id, part, null);

  const loose = parts.filter(
    (part) =>
      !isCertificate(part) &&
      !part.matches.some((id) => {
        const other = byId.get(id);
        // A request shows its key.
        return other && (isCertificate(other) || (part.kind === 'key' && other.kind === 'csr'));
      }),
  );
  return { trees, alternatives, loose };
}

function branchAt(level: Branch[], key: string, part: Part | null, missing: MissingIssuer | null): Branch {
  const known = level.find((branch) => branch.key === key);
  if (known) return known;
  const made: Branch = { key, part, missing, children: [] };
  level.push(made);
  return made;
}

/** The issuer at the upper end of an incomplete chain; null if the chain is complete. */
export function missingOf({ path, isComplete, leaf, warnings }: Chain, byId: ReadonlyMap<string, Part>) {
  const issued = byId.get(path.at(-1) ?? '');
  if (isComplete || !issued) return null;
  const note = warnings.find(({ code }) => code === 'CHAIN_INCOMPLETE' || code === 'ROOT_MISSING');
  const missing: MissingIssuer = {
    // Public authorities sign servers only with intermediates.
    kind: issued.id === leaf && issued.kind === 'server' ? 'intermediate' : 'root',
    name: commonName(issued.issuer) ?? '?',
    address: /available at (\S+)$/.exec(note?.message ?? '')?.[1] ?? null,
    issued,
  };
  return missing;
}
