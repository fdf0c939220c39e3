import { describe, expect, it } from 'vitest';
import { entryTimeMs } from './entry-time.ts';
import { filtersOf, isFiltered, queryOf } from './filters.ts';

const none = { action: '', actor: '', from: '', to: '', tenant: '' };
const id = '0198d3c0-6d5e-7b44-8f0a-3f1f6f0c2a11';

describe('the filters of an address', () => {
  it('are those that can be one', () => {
    expect(filtersOf({ action: 'users.create', actor: id, from: '2026-03-01', to: '2026-03-29', tenant: id })).toEqual({
      action: 'users.create',
      actor: id,
      from: '2026-03-01',
      to: '2026-03-29',
      tenant: id,
    });
  });

  it('leave out rubbish', () => {
    const rubbish = { action: 'no.such', actor: 'anna', from: '2026-02-30', to: 'yesterday', tenant: '1' };
    expect(filtersOf(rubbish)).toEqual(none);
    expect(isFiltered(filtersOf(rubbish))).toBe(false);
    expect(isFiltered(filtersOf({ from: '2026-02-28' }))).toBe(true);
  });

  it('become the instants of whole days in Berlin', () => {
    // On 29 March the clocks go forward.
    expect(queryOf({ ...none, from: '2026-03-29', to: '2026-03-29' })).toEqual({
      from: '2026-03-28T23:00:00.000Z',
      to: '2026-03-29T21:59:59.999Z',
    });
    expect(queryOf(none)).toEqual({});
  });
});

describe('the time in an id', () => {
  it('is read, and missing in ids of another kind', () => {
    expect(entryTimeMs('0198d3c1-0a2b-7c3d-9e4f-5a6b7c8d9e0f')).toBe(0x0198d3c10a2b);
    expect(entryTimeMs('f47ac10b-58cc-4372-a567-0e02b2c3d479')).toBeNull();
    expect(entryTimeMs('x')).toBeNull();
  });
});
