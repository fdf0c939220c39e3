import { describe, expect, it } from 'vitest';
import { filterOf, pathOf } from './users-filter.ts';

const tenantId = '0198d3bf-91f2-7d10-a1b3-5b0f6ce1d2e3';

describe('filterOf', () => {
  it('reads what pathOf writes', () => {
    const filter = { search: 'Jörg & Co', role: 'ADMIN', isActive: false, source: 'directory', tenantId } as const;
    const query = Object.fromEntries(new URL(pathOf(filter), 'https://portal.example.org').searchParams);
    expect(filterOf(query)).toEqual(filter);
    expect(pathOf({})).toBe('/app/admin/users');
  });

  it('leaves out rubbish', () => {
    const query = { search: '  ', role: 'ROOT', isActive: 'perhaps', source: 'moon', tenantId: 'x', limit: '1' };
    expect(filterOf(query)).toEqual({});
  });
});
