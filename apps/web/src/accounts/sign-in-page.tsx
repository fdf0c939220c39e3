import { useLocation } from 'preact-iso/router';
import { useEffect } from 'preact/hooks';
import type { Profile } from '@portal/client/interface';
import { queryClient } from '../portal.ts';
import { sessionState, setMe } from '../session.ts';
import { pageNames } from '../shell/page-names.ts';
import { Status } from '../ui/status.tsx';
import { EntryPage } from './entry-page.tsx';
import { nextPath } from './next-path.ts';
import { SignInForm } from './sign-in-form.tsx';
import { texts } from './sign-in-texts.ts';

export function SignInPage() {
  const t = texts.value;
  const { query, route: go } = useLocation();
  const next = nextPath(query['next']);
  const state = sessionState.value;

  useEffect(() => {
    if (state === 'signedIn') go(next, true);
  }, [state, next]);

  return (
    <EntryPage title={pageNames.value.signIn}>
      {query['notice'] === 'password-set' && (
        <div role="status">
          <Status kind="ok">{t.passwordSet}</Status>
        </div>
      )}
      <SignInForm onSignedIn={enter} />
      <a href="/app/forgot-password">{t.forgot}</a>
    </EntryPage>
  );
}

function enter(profile: Profile): void {
  // Answers that another account got before
  queryClient.clear();
  setMe(profile);
}
