import { useLocation } from 'preact-iso/router';
import { addressOf } from '../shell/address.ts';
import { pageNames } from '../shell/page-names.ts';
import { Page } from '../ui/page.tsx';
import { Tabs } from '../ui/tabs.tsx';
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
      <Tabs
        label={t.views}
        current={shown}
        tabs={names.map((name) => ({
          name,
          label: t.view[name],
          href: addressOf('/app/admin/modules', { tab: name === 'grants' ? '' : name }),
        }))}
      />
      <View />
    </Page>
  );
}
