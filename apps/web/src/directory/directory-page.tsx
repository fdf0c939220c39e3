import { useLocation } from 'preact-iso/router';
import { addressOf } from '../shell/address.ts';
import { pageNames } from '../shell/page-names.ts';
import { Page } from '../ui/page.tsx';
import { QueryView } from '../ui/states.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { MappingsTab } from './mappings-tab.tsx';
import { useConfig } from './queries.ts';
import { RunsTab } from './runs-tab.tsx';
import { SettingsTab } from './settings-tab.tsx';
import { SyncTab } from './sync-tab.tsx';
import { texts } from './texts.ts';

const tabs = ['settings', 'mappings', 'sync', 'runs'] as const;

/** The directory (LDAP) whose people get accounts. The address says which part is shown (`?tab=`). */
export function DirectoryPage() {
  const t = texts.value;
  const { query: params } = useLocation();
  const tab = tabs.find((one) => one === params['tab']) ?? 'settings';
  const config = useConfig();
  return (
    <Page title={pageNames.value.directory}>
      <Tabs
        label={t.tabs}
        current={tab}
        tabs={tabs.map((name) => ({
          name,
          label: t.tab[name],
          href: addressOf('/app/admin/directory', { tab: name === 'settings' ? '' : name }),
        }))}
      />
      {tab === 'settings' && <QueryView query={config}>{(row) => <SettingsTab config={row} />}</QueryView>}
      {tab === 'mappings' && <MappingsTab />}
      {tab === 'sync' && <QueryView query={config}>{(row) => <SyncTab config={row} />}</QueryView>}
      {tab === 'runs' && <RunsTab />}
    </Page>
  );
}
