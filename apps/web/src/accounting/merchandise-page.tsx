import { useLocation } from 'preact-iso/router';
import { useState } from 'preact/hooks';
import { portal } from '../portal.ts';
import { isAdmin } from '../session.ts';
import { addressOf } from '../shell/address.ts';
import { pageNames } from '../shell/page-names.ts';
import { Page } from '../ui/page.tsx';
import { QueryView } from '../ui/states.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { useUpload } from '../ui/upload.tsx';
import { AccountList } from './account-list.tsx';
import { MerchandiseExport } from './merchandise-export.tsx';
import { MerchandiseSettingsCard } from './merchandise-settings.tsx';
import { texts } from './merchandise-texts.ts';
import { useMerchandiseSettings } from './queries.ts';
import { shared } from './shared-texts.ts';

const path = '/app/merchandise-export';

/** Turns a list of merchandise into a file for accounting, and manages the accounts. The list stays in memory meanwhile. */
export function MerchandisePage() {
  const t = texts.value;
  const { query: params } = useLocation();
  const settings = useMerchandiseSettings();
  const [file, setFile] = useState<File | null>(null);
  const preview = useUpload((sent: File, signal) =>
    portal.post('/accounting/merchandise/preview', { body: { file: sent }, signal }),
  );
  const names = isAdmin.value ? (['export', 'accounts', 'settings'] as const) : (['export', 'accounts'] as const);
  const tab = names.find((name) => name === params['tab']) ?? 'export';
  const address = (change: Record<string, string | null>) => addressOf(path, change);

  const choose = (chosen: File | null) => {
    setFile(chosen);
    preview.reset();
    if (chosen) void preview.send(chosen);
  };
  return (
    <Page title={pageNames.value.merchandiseExport}>
      <Tabs
        label={shared.value.areas}
        current={tab}
        tabs={names.map((name) => ({
          name,
          label: t.tabs[name],
          href: address({ tab: name === 'export' ? null : name }),
        }))}
      />
      {tab === 'export' && (
        <MerchandiseExport
          file={file}
          onFile={choose}
          preview={preview}
          isErrorsOnly={params['view'] === 'errors'}
          viewPath={(view) => address({ view })}
          settings={settings.data}
          settingsPath={isAdmin.value ? address({ tab: 'settings' }) : null}
        />
      )}
      {tab === 'accounts' && (
        // A preview knows only the accounts that there were.
        <AccountList onChanged={() => file && void preview.send(file)} search={params['search'] ?? ''} />
      )}
      {tab === 'settings' && (
        <QueryView query={settings}>{(stored) => <MerchandiseSettingsCard stored={stored} />}</QueryView>
      )}
    </Page>
  );
}
