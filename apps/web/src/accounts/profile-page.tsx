import { me } from '../session.ts';
import { pageNames } from '../shell/page-names.ts';
import { Page } from '../ui/page.tsx';
import { AccentCard } from './accent-card.tsx';
import { AppearanceCard } from './appearance-card.tsx';
import { AvatarCard } from './avatar-card.tsx';
import { BackgroundCard } from './background-card.tsx';
import { EmailCard } from './email-card.tsx';
import { NameCard } from './name-card.tsx';
import s from './profile.module.css';

export function ProfilePage() {
  const profile = me.value;
  if (!profile) return null;
  return (
    <Page title={pageNames.value.me}>
      <div class={s.cards}>
        <div>
          <NameCard profile={profile} />
          <EmailCard profile={profile} />
          <AppearanceCard profile={profile} />
        </div>
        <div>
          <AvatarCard profile={profile} />
          <AccentCard profile={profile} />
          <BackgroundCard profile={profile} />
        </div>
      </div>
    </Page>
  );
}
