import profile from '../accounts/profile.module.css';
import { pageNames } from '../shell/page-names.ts';
import { Page } from '../ui/page.tsx';
import { DigestCard } from './digest-card.tsx';
import { FeedsSection } from './feeds-section.tsx';
import { MailboxCard } from './mailbox-card.tsx';
import { SourcesHealth } from './sources-health.tsx';
import { TenderTabs } from './tender-tabs.tsx';

/** Where tenders come from, and how the person hears of new ones. */
export function SourcesPage() {
  return (
    <Page title={pageNames.value.tenderSources}>
      <TenderTabs />
      <div class={profile.cards}>
        <DigestCard />
        <MailboxCard />
      </div>
      <FeedsSection />
      <SourcesHealth />
    </Page>
  );
}
