import { afterEach, describe, expect, it } from 'vitest';
import type { ActiveModule } from '@portal/client/interface';
import { type Language, language } from '../language.ts';
import { categoryName, moduleName } from './module-names.ts';
import { navGroups } from './nav-groups.ts';

const module = (fields: Partial<ActiveModule> & Pick<ActiveModule, 'key' | 'category'>): ActiveModule => ({
  name: fields.key,
  kind: 'custom',
  categoryName: fields.category,
  level: 'USE',
  canManage: false,
  ...fields,
});

const before = language.value;
const speak = (wanted: Language) => {
  language.value = wanted;
};
afterEach(() => speak(before));

describe('the navigation', () => {
  const modules = [
    module({ key: 'custom:b', name: 'Beta', category: 'tools', categoryName: 'Tools' }),
    module({ key: 'custom:a', name: 'Alpha', category: 'tools', categoryName: 'Tools' }),
    module({ key: 'a-module-without-a-page', kind: 'builtin', category: 'sales', categoryName: 'Sales' }),
    module({ key: 'custom:c', name: 'Gamma', category: 'aussendienst', categoryName: 'Außendienst' }),
  ];

  it('lists modules by category in the order of the API, without categories that would be empty', () => {
    speak('de');
    const groups = navGroups({ role: 'USER', modules }).modules;
    expect(groups.map(({ label, items }) => [label, items.map(({ label, href }) => `${label} ${href}`)])).toEqual([
      ['Werkzeuge', ['Beta /app/modules/b', 'Alpha /app/modules/a']],
      ['Außendienst', ['Gamma /app/modules/c']],
    ]);
  });

  it('has the pages of the account before the modules are known', () => {
    speak('en');
    const groups = navGroups({ role: 'USER', modules: undefined });
    expect(groups.main.flatMap(({ items }) => items.map(({ label }) => label))).toEqual(['Dashboard', 'Reminders']);
    expect(groups.modules).toEqual([]);
    expect(groups.admin).toEqual([]);
  });
});

describe('a name of the API', () => {
  it('is that of the language, unless the organization chose it', () => {
    speak('de');
    expect(moduleName({ key: 'tender-radar', name: 'Tender radar', kind: 'builtin' })).toBe('Ausschreibungen');
    expect(moduleName({ key: 'custom:1', name: 'Calendar', kind: 'custom' })).toBe('Calendar');
    expect(categoryName({ key: 'sales', name: 'Sales' })).toBe('Vertrieb');
    expect(categoryName({ key: 'sales', name: 'Verkauf Nord' })).toBe('Verkauf Nord');
    expect(categoryName({ key: 'aussendienst', name: 'Außendienst' })).toBe('Außendienst');
    speak('en');
    expect(categoryName({ key: 'accounting', name: 'Financial accounting' })).toBe('Financial accounting');
  });

  it('of a later release stays', () => {
    expect(moduleName({ key: 'new-module', name: 'New module', kind: 'builtin' })).toBe('New module');
    expect(moduleName({ key: 'constructor', name: 'Constructor', kind: 'builtin' })).toBe('Constructor');
  });
});
