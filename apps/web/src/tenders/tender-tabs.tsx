import { useLocation } from 'preact-iso/router';
import { pageNames } from '../shell/page-names.ts';
import { Tabs } from '../ui/tabs.tsx';
import { texts } from './tender-tabs-texts.ts';

const pages = ['/app/tenders', '/app/tenders/searches', '/app/tenders/sources'] as const;

/** Links between the pages of the tender radar. */
export function TenderTabs() {
  const t = texts.value;
  const names = pageNames.value;
  const { path } = useLocation();
  const labels = [t.search, names.savedSearches, names.tenderSources];
  return (
    <Tabs
      label={names.tenders}
      current={pages.find((page) => page === path) ?? pages[0]}
      tabs={pages.map((href, at) => ({ name: href, label: labels[at], href }))}
    />
  );
}
