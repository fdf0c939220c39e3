import { describe, expect, it } from 'vitest';
import { type Analysis, commonName, type Part, validityOf } from './analysis.ts';
import { type Branch, chainTrees } from './chain-tree.ts';

const part = (id: string, kind: Part['kind'], more: Partial<Part> = {}): Part => ({
  id,
  kind,
  files: [`${id}.pem`],
  pem: '',
  sha256: id,
  subject: `CN=${id}`,
  issuer: null,
  serialNumber: null,
  notBefore: null,
  notAfter: null,
  sans: [],
  keyType: 'RSA 2048',
  matches: [],
  warnings: [],
  ...more,
});
const analysis = (parts: Part[], chains: string[][], isComplete = true): Analysis => ({
  parts,
  chains: chains.map((path) => ({ leaf: path[0] ?? '', path, isComplete, warnings: [] })),
  locked: [],
  rejected: [],
  warnings: [],
});
const drawn = (branches: Branch[]): unknown[] =>
  branches.map(({ part, missing, children }) => [
    part?.id ?? `missing ${missing?.kind} ${missing?.name}`,
    ...drawn(children),
  ]);

describe('the chains', () => {
  it('share their upper parts, with the best chain of each certificate', () => {
    const parts = [
      part('a', 'server'),
      part('b', 'server'),
      part('i', 'intermediate'),
      part('r', 'root'),
      part('q', 'root'),
    ];
    const { trees, alternatives } = chainTrees(
      analysis(parts, [
        ['a', 'i', 'r'],
        ['b', 'i', 'r'],
        ['a', 'i', 'q'],
      ]),
    );
    expect(drawn(trees)).toEqual([['r', ['i', ['a'], ['b']]], ['q']]);
    expect(alternatives.get('a')?.map(({ path }) => path)).toEqual([['a', 'i', 'q']]);
  });

  it('name what is missing above them', () => {
    const server = part('a', 'server', { issuer: 'C=DE, O=A\\, B, CN=Issuing CA' });
    expect(drawn(chainTrees(analysis([server], [['a']], false)).trees)).toEqual([
      ['missing intermediate Issuing CA', ['a']],
    ]);
    const parts = [part('a', 'server'), part('i', 'intermediate', { issuer: 'CN=Root' })];
    expect(drawn(chainTrees(analysis(parts, [['a', 'i']], false)).trees)).toEqual([
      ['missing root Root', ['i', ['a']]],
    ]);
  });

  it('leave out keys and requests that belong to something', () => {
    const parts = [
      part('a', 'server', { matches: ['k'] }),
      part('k', 'key', { matches: ['a'] }),
      part('c', 'csr', { matches: ['l'] }),
      part('l', 'key', { matches: ['c'] }),
      part('m', 'key'),
    ];
    expect(chainTrees(analysis(parts, [['a']])).loose.map(({ id }) => id)).toEqual(['c', 'm']);
  });
});

it('reads a common name', () => {
  expect(commonName('C=DE, O=Beispiel\\, GmbH, CN=a\\,b.example')).toBe('a,b.example');
  expect(commonName('O=Only')).toBe('O=Only');
  expect(commonName(null)).toBeNull();
});

it.each([
  ['2026-12-01T00:00:00Z', 'soon', 5],
  ['2026-11-20T00:00:00Z', 'expired', 6],
  ['2027-11-26T00:00:00Z', 'valid', 365],
] as const)('says how long a certificate until %s is valid', (notAfter, state, days) => {
  const nowMs = Date.parse('2026-11-26T00:00:00Z');
  expect(validityOf(part('a', 'server', { notAfter }), nowMs)).toEqual({ state, days });
});
