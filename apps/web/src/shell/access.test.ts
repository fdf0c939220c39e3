import { describe, expect, it } from 'vitest';
import type { ActiveModule } from '@portal/client/interface';
import type { Who } from '../routes.ts';
import { lackFor } from './access.ts';

const active = (key: string, level: 'USE' | 'MANAGE', kind: 'builtin' | 'custom' = 'builtin'): ActiveModule => ({
  key,
  name: key,
  kind,
  category: 'tools',
  categoryName: 'Tools',
  level,
  canManage: level === 'MANAGE',
});
const modules = [active('calendar', 'USE'), active('virtualization', 'MANAGE'), active('wiki', 'MANAGE', 'custom')];
const use = (module: string): Who => ({ module, level: 'USE' });
const manage = (module: string): Who => ({ module, level: 'MANAGE' });

describe('a page', () => {
  it.each<[Who, 'USER' | 'ADMIN' | 'SUPER_ADMIN', string | null]>([
    ['public', 'USER', null],
    ['account', 'USER', null],
    ['ADMIN', 'USER', 'ADMIN'],
    ['ADMIN', 'ADMIN', null],
    ['ADMIN', 'SUPER_ADMIN', null],
    ['SUPER_ADMIN', 'ADMIN', 'SUPER_ADMIN'],
    ['SUPER_ADMIN', 'SUPER_ADMIN', null],
    [use('calendar'), 'USER', null],
    [manage('calendar'), 'USER', 'manage'],
    [manage('virtualization'), 'USER', null],
    [use('tender-radar'), 'USER', 'module'],
    [use('tender-radar'), 'ADMIN', 'module'],
    [use('wiki'), 'USER', 'module'],
  ])('for %j opened by %s lacks %s', (who, role, expected) => {
    expect(lackFor(who, { role, modules })).toBe(expected);
  });

  it('of a module waits until the modules are known', () => {
    expect(lackFor(use('calendar'), { role: 'USER', modules: undefined })).toBe('unknown');
    expect(lackFor('account', { role: 'USER', modules: undefined })).toBeNull();
  });
});
