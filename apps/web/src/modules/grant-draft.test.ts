import { describe, expect, it } from 'vitest';
import type { GrantMatrix } from '@portal/client/interface';
import { compareDraft, type GrantChange, type GrantDraft, nextLevel, withChange, withGrant } from './grant-draft.ts';

const sales = { type: 'group' as const, id: '1', name: 'Sales' };
const anna = { type: 'user' as const, id: '1', name: 'Anna' };
const change = (changes: Partial<GrantChange>): GrantChange => ({
  subject: sales,
  module: 'calendar',
  from: null,
  to: 'USE',
  ...changes,
});
const matrix = (subjects: GrantMatrix['subjects']): GrantMatrix => ({ modules: [], subjects });

describe('a level', () => {
  it('goes from none to USE to MANAGE and back', () => {
    expect([nextLevel(null, true), nextLevel('USE', true), nextLevel('MANAGE', true)]).toEqual(['USE', 'MANAGE', null]);
  });

  it('skips MANAGE where it allows no more', () => {
    expect([nextLevel(null, false), nextLevel('USE', false), nextLevel('MANAGE', false)]).toEqual(['USE', null, null]);
  });
});

describe('a draft', () => {
  it('keeps the first level of a cell, and forgets a cell that is back at it', () => {
    let draft: GrantDraft = new Map();
    draft = withChange(draft, change({ from: null, to: 'USE' }));
    draft = withChange(draft, change({ from: 'USE', to: 'MANAGE' }));
    expect([...draft.values()]).toEqual([change({ from: null, to: 'MANAGE' })]);
    draft = withChange(draft, change({ from: 'MANAGE', to: null }));
    expect(draft.size).toBe(0);
  });

  it('tells a group from an account with the same id', () => {
    const draft = withChange(withChange(new Map(), change({})), change({ subject: anna }));
    expect(draft.size).toBe(2);
  });

  it('finds what others changed, what is done already, and groups that are gone', () => {
    const now = matrix([{ ...sales, grants: { calendar: 'MANAGE', invoices: 'USE' } }]);
    const due = change({ module: 'tenders' });
    const mine = change({});
    const done = change({ module: 'invoices' });
    const gone = change({ subject: { ...sales, id: '2' } });
    const account = change({ subject: anna });
    expect(compareDraft([due, mine, done, gone, account], now)).toEqual({
      due: [due, account],
      conflicts: [{ ...mine, theirs: 'MANAGE' }],
      settled: [done, gone],
    });
  });
});

describe('the matrix after a change', () => {
  it('has the new level, and a row for an account that had none', () => {
    const before = matrix([{ ...sales, grants: { calendar: 'USE' } }]);
    expect(withGrant(before, change({ to: null })).subjects).toEqual([{ ...sales, grants: {} }]);
    expect(withGrant(before, change({ subject: anna })).subjects.at(-1)).toEqual({
      ...anna,
      grants: { calendar: 'USE' },
    });
  });
});
