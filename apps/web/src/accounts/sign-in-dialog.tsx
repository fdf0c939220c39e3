import { LogIn } from 'lucide';
import { useEffect, useState } from 'preact/hooks';
import type { Profile } from '@portal/client/interface';
import { PortalError } from '@portal/client/portal-error';
import { portal, queryClient } from '../portal.ts';
import { me, setMe } from '../session.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import s from './sign-in-dialog.module.css';
import { SignInForm } from './sign-in-form.tsx';
import { texts } from './sign-in-texts.ts';

/**
 * Asks the account whose session ended to sign in again, over the page as it is. Who closes the dialog, such as to copy an entry, keeps
 * a button that opens it. It opens by itself when the service refuses the next change.
 */
export function SignInDialog() {
  const t = texts.value;
  const [isOpen, setOpen] = useState(true);

  useEffect(() => reopenOnRefusal(() => setOpen(true)), []);
  useEffect(() => {
    document.addEventListener('visibilitychange', returnWithSession);
    return () => document.removeEventListener('visibilitychange', returnWithSession);
  }, []);

  if (!isOpen)
    return (
      <div class={s.reminder} role="status">
        {t.lostShort}
        <Button kind="primary" size="small" icon={LogIn} onClick={() => setOpen(true)}>
          {t.signIn}
        </Button>
      </div>
    );
  return (
    <Dialog title={t.lostTitle} size="small" onClose={() => setOpen(false)}>
      <p class={s.explanation}>{t.lostText}</p>
      <SignInForm username={me.value?.username ?? ''} onSignedIn={resume}>
        <Button kind="ghost" onClick={leave}>
          {t.otherAccount}
        </Button>
      </SignInForm>
    </Dialog>
  );
}

function resume(profile: Profile): void {
  // What the page shows belongs to the account before.
  if (me.value?.id !== profile.id) {
    location.reload();
    return;
  }
  // The refusal of a call that was sent before would open the dialog again.
  void queryClient.cancelQueries().then(() => {
    setMe(profile);
    return queryClient.refetchQueries({ predicate: (query) => query.state.status === 'error' || query.isActive() });
  });
}

/** The person may have signed in again in another window. */
function returnWithSession(): void {
  if (document.visibilityState === 'visible') void portal.get('/auth/me').then(resume, () => undefined);
}

const reopenOnRefusal = (open: () => void) =>
  queryClient.getMutationCache().subscribe((event) => {
    if (event.type !== 'updated' || event.action.type !== 'error') return;
    const { error }: { error: unknown } = event.action;
    if (error instanceof PortalError && error.code === 'UNAUTHENTICATED') open();
  });

/** A new load forgets everything that belongs to the account before. */
const leave = () => location.assign(`/app/sign-in?next=${encodeURIComponent(location.pathname + location.search)}`);
