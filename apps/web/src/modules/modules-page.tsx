import { useLocation } from 'preact-iso/router';
import tabs from '../reminders/reminders.module.css';
import { pageNames } from '../shell/page-names.ts';
import { Page } from '../ui/page.tsx';
import { CategoriesTab } from './categories-tab.tsx';
import { GrantsTab } from './grants-tab.tsx';
import { ModuleSwitches } from './module-switches.tsx';
import { texts } from './modules-texts.ts';
import { SharedModulesTab } from './shared-modules-tab.tsx';

const views = {
  grants: GrantsTab,
  switches: ModuleSwitches,
  categories: CategoriesTab,
  shared: SharedModulesTab,
};
const names = ['grants', 'switches', 'categories', 'shared'] as const;

/** Grants, switches, categories and shared custom modules. The address says which (`?tab=`). */
export function ModulesPage() {
  const t = texts.value;
  const { query } = useLocation();
  const shown = names.find((name) => name === query['tab']) ?? 'grants';
  const View = views[shown];
  return (
    <Page title={pageNames.value.modules}>
      <nav class={tabs.filters} aria-label={t.views}>
        {names.map((name) => (
          <a
            key={name}
            href={`/app/admin/modules${name === 'grants' ? '' : `?tab=${name}`}`}
            aria-current={name === shown ? 'page' : undefined}
          >
            {t.view[name]}
          </a>
        ))}
      </nav>
      <View />
    </Page>
  );
}
