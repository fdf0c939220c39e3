import { expect, it } from 'vitest';
import { isModuleKey, modules } from './modules.ts';

it('lists every module, each with its default category and whether it can be managed', () => {
  expect(modules.map(({ key, defaultCategory, hasManage }) => [key, defaultCategory, hasManage])).toEqual([
    ['virtualization', 'infrastructure', true],
    ['cloud-status', 'infrastructure', true],
    ['certificate-manager', 'infrastructure', false],
    ['tender-radar', 'sales', false],
    ['canteen-billing', 'accounting', true],
    ['merchandise-export', 'accounting', true],
    ['invoice-mailbox', 'accounting', true],
    ['calendar', 'tools', false],
  ]);
});

it.each(['', 'constructor', '__proto__', 'Calendar', 'calendar '])('does not accept %j as a module', (key) => {
  expect(isModuleKey(key)).toBe(false);
});
