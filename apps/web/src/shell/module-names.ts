import type { ActiveModule } from '@portal/client/interface';
import type { defaultCategories, ModuleKey } from '@portal/domain/modules/modules';
import { catalogue } from '../language.ts';

type DefaultCategory = (typeof defaultCategories)[number];

// The API calls modules and default categories by these names. The types keep them equal to those of the domain.
const english: {
  modules: Record<ModuleKey, string>;
  categories: { [Category in DefaultCategory as Category['key']]: Category['name'] };
} = {
  modules: {
    virtualization: 'Virtualization',
    'cloud-status': 'Cloud status',
    'certificate-manager': 'Certificate manager',
    'tender-radar': 'Tender radar',
    'canteen-billing': 'Canteen billing',
    'merchandise-export': 'Merchandise export',
    'invoice-mailbox': 'Invoice mailbox',
    calendar: 'Calendar',
  },
  categories: {
    infrastructure: 'Infrastructure',
    accounting: 'Financial accounting',
    sales: 'Sales',
    tools: 'Tools',
    'custom-modules': 'Custom modules',
  },
};

const names = catalogue<{ modules: Record<ModuleKey, string>; categories: Record<DefaultCategory['key'], string> }>({
  de: {
    modules: {
      virtualization: 'Virtualisierung',
      'cloud-status': 'Cloud-Status',
      'certificate-manager': 'Zertifikate',
      'tender-radar': 'Ausschreibungen',
      'canteen-billing': 'Kantinenabrechnung',
      'merchandise-export': 'Warenexport',
      'invoice-mailbox': 'Rechnungseingang',
      calendar: 'Kalender',
    },
    categories: {
      infrastructure: 'Infrastruktur',
      accounting: 'Finanzbuchhaltung',
      sales: 'Vertrieb',
      tools: 'Werkzeuge',
      'custom-modules': 'Eigene Module',
    },
  },
  en: english,
});

/** The name of a module; that of a built-in one in the language of the page. */
export function moduleName({ key, name, kind }: Pick<ActiveModule, 'key' | 'name' | 'kind'>): string {
  return (kind === 'builtin' ? byKey(names.value.modules, key) : undefined) ?? name;
}

/** The name of a category; a default one that the organization has not renamed in the language of the page. */
export function categoryName({ key, name }: { key: string; name: string }): string {
  const isRenamed = byKey(english.categories, key) !== name;
  return (isRenamed ? undefined : byKey(names.value.categories, key)) ?? name;
}

const byKey = (texts: Readonly<Record<string, string>>, key: string): string | undefined =>
  Object.hasOwn(texts, key) ? texts[key] : undefined;
