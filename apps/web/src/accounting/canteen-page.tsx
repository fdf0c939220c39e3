import { useLocation } from 'preact-iso/router';
import { useState } from 'preact/hooks';
import { portal } from '../portal.ts';
import { addressOf } from '../shell/address.ts';
import { useManages } from '../shell/modules.ts';
import { pageNames } from '../shell/page-names.ts';
import { Page } from '../ui/page.tsx';
import { QueryView } from '../ui/states.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { useUpload } from '../ui/upload.tsx';
import { CanteenBilling, canteenViews } from './canteen-billing.tsx';
import { CanteenSettingsCard } from './canteen-settings.tsx';
import { texts } from './canteen-texts.ts';
import { isMonth, lastMonth } from './months.ts';
import { useCanteenSettings } from './queries.ts';
import { shared } from './shared-texts.ts';

const path = '/app/canteen-billing';

/** Turns the list of a canteen into a payroll file. The list stays in memory while the person fills in the settings. */
export function CanteenPage() {
  const t = texts.value;
  const { query: params, route: go } = useLocation();
  const canManage = useManages('canteen-billing') ?? false;
  const settings = useCanteenSettings();
  const [file, setFile] = useState<File | null>(null);
  const preview = useUpload(({ file, month }: { file: File; month: string }, signal) =>
    portal.post('/accounting/canteen/preview', { body: { file, month }, signal }),
  );
  const month = isMonth(params['month']) ? params['month'] : lastMonth();
  const view = canteenViews.find((one) => one === params['view']) ?? 'rows';
  const isSettings = canManage && params['tab'] === 'settings';
  const address = (change: Record<string, string | null>) =>
    addressOf(path, { month: params['month'], view: params['view'], ...change });

  const choose = (chosen: File | null) => {
    setFile(chosen);
    preview.reset();
    if (chosen) void preview.send({ file: chosen, month });
  };
  return (
    <Page title={pageNames.value.canteenBilling}>
      {canManage && (
        <Tabs
          label={shared.value.areas}
          current={isSettings ? 'settings' : 'billing'}
          tabs={[
            { name: 'billing', label: t.tabs.billing, href: address({}) },
            { name: 'settings', label: t.tabs.settings, href: address({ tab: 'settings' }) },
          ]}
        />
      )}
      {isSettings ? (
        <QueryView query={settings}>{(stored) => <CanteenSettingsCard stored={stored} />}</QueryView>
      ) : (
        <CanteenBilling
          file={file}
          onFile={choose}
          preview={preview}
          month={month}
          onMonth={(next) => {
            go(address({ month: next }), true);
            if (file) void preview.send({ file, month: next });
          }}
          view={view}
          viewPath={(next) => address({ view: next === 'rows' ? null : next })}
          settings={settings.data}
          settingsPath={canManage ? address({ tab: 'settings' }) : null}
        />
      )}
    </Page>
  );
}
