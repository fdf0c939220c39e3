import { describe, expect, it } from 'vitest';
import { canonicalDn } from './dn.ts';
import { GroupGraph, isAdmitted, isGroup } from './groups.ts';
import type { DirectoryEntry } from './person.ts';

const entry = (dn: string, attributes: Record<string, string> = {}): DirectoryEntry => ({
  dn,
  values: (attribute) => (attributes[attribute] === undefined ? [] : [attributes[attribute]]),
  firstBytes: () => undefined,
});

/** Groups by name with the names of their members; `cn=x` is the group `x`. */
const graphOf = (groups: Record<string, string[]>): GroupGraph => {
  const graph = new GroupGraph();
  for (const [cn, members] of Object.entries(groups))
    graph.addMembers(graph.add(entry(`CN=${cn},dc=org`, { cn }), cn), members);
  return graph;
};
const namesOf = (graph: GroupGraph, dn: string, memberOf: string[] = []): string[] =>
  graph
    .groupsOf({ dn: canonicalDn(dn), memberOf: memberOf.map(canonicalDn), primaryGroupSid: null })
    .map((at) => graph.groups[at]?.name ?? '');

describe('the groups of a person', () => {
  it('are the groups that list the person and the groups that contain these', () => {
    const graph = graphOf({
      staff: ['cn=sales,dc=org', 'cn=it,dc=org'],
      sales: ['uid=Anna,dc=org'],
      it: ['uid=berta,dc=org'],
      empty: [],
    });
    expect(namesOf(graph, 'uid=anna,dc=org')).toEqual(['staff', 'sales']);
    expect(namesOf(graph, 'UID=Berta, DC=org')).toEqual(['staff', 'it']);
    expect(namesOf(graph, 'uid=carl,dc=org')).toEqual([]);
  });

  it('are complete if groups contain each other', () => {
    const graph = graphOf({
      a: ['cn=c,dc=org', 'uid=anna,dc=org'],
      b: ['cn=a,dc=org'],
      c: ['cn=b,dc=org', 'cn=c,dc=org'],
    });
    expect(namesOf(graph, 'uid=anna,dc=org')).toEqual(['a', 'b', 'c']);
  });

  it('may be listed by the person instead, once each', () => {
    const graph = graphOf({ staff: ['cn=sales,dc=org'], sales: ['uid=anna,dc=org'] });
    expect(namesOf(graph, 'uid=anna,dc=org', ['cn=Sales, dc=org', 'cn=unknown,dc=org'])).toEqual(['staff', 'sales']);
    expect(namesOf(graph, 'uid=berta,dc=org', ['cn=sales,dc=org'])).toEqual(['staff', 'sales']);
  });

  it('are found for names with special characters', () => {
    const graph = graphOf({ odd: [String.raw`cn=M\C3\BCller\2C J\C3\BCrgen+uid=jm,ou="a;b",dc=org`] });
    expect(namesOf(graph, String.raw`uid=JM+cn=müller\, jürgen,ou=a\;b,dc=org`)).toEqual(['odd']);
  });

  it('include a chain of a thousand groups', () => {
    const chain = Object.fromEntries(
      Array.from({ length: 1_000 }, (_, n) => [`g${n}`, n === 0 ? ['uid=anna,dc=org'] : [`cn=g${n - 1},dc=org`]]),
    );
    expect(namesOf(graphOf(chain), 'uid=anna,dc=org')).toHaveLength(1_000);
  });
});

it('finds the groups of a person who lists one of them many times, or all of them', () => {
  const names = Array.from({ length: 2_000 }, (_, n) => `cn=g${n},dc=org`);
  const chain = Object.fromEntries(names.map((_, n) => [`g${n}`, n === 0 ? [] : [`cn=g${n - 1},dc=org`]]));
  const graph = graphOf(chain);
  const groupsOf = (memberOf: string[]) => graph.groupsOf({ dn: 'uid=anna', memberOf, primaryGroupSid: null });
  const all = Array.from(names.keys());
  expect(groupsOf(Array<string>(100_000).fill('cn=g0,dc=org'))).toEqual(all);
  expect(groupsOf(names)).toEqual(all);
  expect(groupsOf(names.slice(1_990))).toEqual(all.slice(1_990));
});

it('counts a member that a group lists many times once', () => {
  let taken = 0;
  const graph = new GroupGraph((bytes) => {
    taken += bytes;
  });
  const position = graph.add(entry('cn=a,dc=org', { cn: 'a' }), 'a');
  const other = graph.add(entry('cn=b,dc=org', { cn: 'b' }), 'b');
  const members = Array<string>(10_000).fill('uid=anna,dc=org');
  graph.addMembers(position, members);
  graph.addMembers(other, members);
  expect(taken).toBeLessThan(3_000);
  expect(namesOf(graph, 'uid=anna,dc=org')).toEqual(['a', 'b']);
});

it('truncates a huge group name quickly', () => {
  const graph = new GroupGraph();
  const before = process.memoryUsage().heapUsed;
  graph.add(entry('cn=a', { cn: 'ä'.repeat(12_000_000) }), 'a');
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(60 * 1024 * 1024);
  expect(graph.groups[0]?.name).toMatch(/^ä+$/);
});

it('counts a group that is added twice once', () => {
  const graph = graphOf({ a: ['uid=anna,dc=org'] });
  expect(graph.add(entry('cn=A, dc=org', { cn: 'a' }), 'other')).toBe(0);
  expect(graph.groups).toHaveLength(1);
});

it('counts a group with two names once, whichever name its members list', () => {
  const graph = graphOf({ a: ['uid=anna,dc=org'] });
  const again = graph.add(entry('cn=renamed,dc=org', { cn: 'renamed' }), 'a');
  graph.addMembers(again, ['uid=berta,dc=org']);
  expect([again, graph.groups.length]).toEqual([0, 1]);
  expect(namesOf(graph, 'uid=berta,dc=org', ['cn=renamed,dc=org'])).toEqual(['a']);
});

it('reports its memory: for a group, a name, and each group that contains a group', () => {
  let taken = 0;
  const graph = new GroupGraph((bytes) => {
    taken += bytes;
  });
  const steps: number[] = [];
  const after = (act: () => unknown): void => {
    const before = taken;
    act();
    steps.push(taken - before);
  };
  const names = Array.from({ length: 100 }, (_, n) => `cn=g${n},dc=org`);
  after(() => names.map((dn, n) => graph.add(entry(dn, { cn: dn }), `${n}`)));
  after(() => names.map((dn, n) => graph.addMembers((n + 1) % 100, [dn])));
  after(() => names.map((dn) => graph.groupsOf({ dn, memberOf: [], primaryGroupSid: null })));
  expect(steps[0]).toBeGreaterThan(100 * 300);
  expect(steps[1]).toBeGreaterThan(100 * 60);
  // Circular groups: each is in all.
  expect(steps[2]).toBe(100 * 100 * 8);
});

it.each([
  ['Team\u0000 A\n', 'Team A'],
  ['x'.repeat(300), 'x'.repeat(200)],
  ['', 'unnamed'],
])('calls the group %j %j', (cn, name) => {
  expect(graphOf({ [cn]: [] }).groups[0]?.name).toBe(name);
});

it.each([
  ['groupOfNames', true],
  ['GROUP', true],
  ['organizationalUnit', false],
])('%s is a group: %j', (objectClass, is) => {
  expect(isGroup(entry('cn=x', { objectClass }))).toBe(is);
});

it('admits by group, by base, or everyone', () => {
  const admission = { isOpen: false, groups: new Set([3]), bases: ['ou=it,dc=org'] };
  expect(isAdmitted(admission, 'uid=anna,dc=org', [1, 3])).toBe(true);
  expect(isAdmitted(admission, 'uid=anna,ou=it,dc=org', [])).toBe(true);
  expect(isAdmitted(admission, 'uid=anna,ou=sales,dc=org', [1])).toBe(false);
  expect(isAdmitted({ isOpen: true, groups: new Set(), bases: [] }, 'uid=anna,dc=org', [])).toBe(true);
});
