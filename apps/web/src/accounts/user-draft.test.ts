import { describe, expect, it } from 'vitest';
import { changeOf, differingFields, emptyDraft, mergeDraft } from './user-draft.ts';

const opened = { ...emptyDraft, username: 'anna', displayName: 'Anna' };

describe('changeOf', () => {
  it('holds the changed fields alone, and null for what is blank', () => {
    const draft = { ...opened, displayName: ' ', role: 'ADMIN' as const };
    expect(changeOf(draft, differingFields(opened, draft))).toEqual({ displayName: null, role: 'ADMIN' });
  });
});

describe('mergeDraft', () => {
  it('takes what only the other changed, and names what both changed', () => {
    const mine = { ...opened, displayName: 'Anna S.', lastName: 'Schmidt' };
    const theirs = { ...opened, displayName: 'Anna Schmidt', lastName: 'Schmidt', role: 'ADMIN' as const };
    expect(mergeDraft(opened, mine, theirs)).toEqual({
      draft: { ...mine, role: 'ADMIN' },
      conflicts: ['displayName'],
    });
  });

  it('has no conflict if nobody else saved', () => {
    const mine = { ...opened, email: 'a@example.org' };
    expect(mergeDraft(opened, mine, opened)).toEqual({ draft: mine, conflicts: [] });
  });
});
