import { useLocation } from 'preact-iso/router';
import reminders from '../reminders/reminders.module.css';
import { pageNames } from '../shell/page-names.ts';
import { Page } from '../ui/page.tsx';
import { QueryView } from '../ui/states.tsx';
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
      <nav class={reminders.filters} aria-label={t.tabs}>
        {tabs.map((one) => (
          <a
            key={one}
            href={one === 'settings' ? '/app/admin/directory' : `/app/admin/directory?tab=${one}`}
            aria-current={one === tab ? 'page' : undefined}
          >
            {t.tab[one]}
          </a>
        ))}
      </nav>
      {tab === 'settings' && <QueryView query={config}>{(row) => <SettingsTab config={row} />}</QueryView>}
      {tab === 'mappings' && <MappingsTab />}
      {tab === 'sync' && <QueryView query={config}>{(row) => <SyncTab config={row} />}</QueryView>}
      {tab === 'runs' && <RunsTab />}
    </Page>
  );
}
