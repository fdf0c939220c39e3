import { describe, expect, it } from 'vitest';
import type { Role } from '../access.ts';
import { effectiveLevel, moduleRefusal, type ModuleStanding } from './grants.ts';
import type { GrantLevel, NeededLevel } from './modules.ts';

const standing = (level: GrantLevel | null, isOff = false): ModuleStanding => ({
  disabled: isOff ? ['calendar'] : [],
  granted: level === null ? { virtualization: 'MANAGE' } : { calendar: level },
});
const refusalOf = (role: Role, level: GrantLevel | null, needed: NeededLevel, isOff = false) =>
  moduleRefusal({ role }, standing(level, isOff), { module: 'calendar', level: needed })?.code;

describe('a module', () => {
  it.each<[Role, GrantLevel | null, NeededLevel, string | undefined]>([
    ['USER', null, 'USE', 'MODULE_ACCESS_DENIED'],
    ['USER', null, 'MANAGE', 'MODULE_ACCESS_DENIED'],
    ['USER', 'USE', 'USE', undefined],
    ['USER', 'USE', 'MANAGE', 'MANAGE_REQUIRED'],
    ['USER', 'MANAGE', 'USE', undefined],
    ['USER', 'MANAGE', 'MANAGE', undefined],
    ['ADMIN', null, 'MANAGE', undefined],
    ['ADMIN', 'USE', 'MANAGE', undefined],
    ['SUPER_ADMIN', null, 'MANAGE', undefined],
    ['USER', null, 'ADMIN', 'FORBIDDEN'],
    ['USER', 'MANAGE', 'ADMIN', 'FORBIDDEN'],
    ['ADMIN', null, 'ADMIN', undefined],
    ['SUPER_ADMIN', null, 'ADMIN', undefined],
  ])('for %s with the grant %s, a route that needs %s: %s', (role, level, needed, code) => {
    expect(refusalOf(role, level, needed)).toBe(code);
    expect(refusalOf(role, level, needed, true)).toBe('MODULE_DISABLED');
  });

  it('that is off is closed to all; one that is on gives administrators MANAGE', () => {
    expect(effectiveLevel({ role: 'SUPER_ADMIN' }, standing('MANAGE', true), 'calendar')).toBeNull();
    expect(effectiveLevel({ role: 'ADMIN' }, standing(null), 'calendar')).toBe('MANAGE');
    expect(effectiveLevel({ role: 'USER' }, standing('USE'), 'calendar')).toBe('USE');
    expect(effectiveLevel({ role: 'USER' }, standing(null), 'calendar')).toBeNull();
  });
});
