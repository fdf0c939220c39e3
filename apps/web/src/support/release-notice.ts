import { catalogue } from '../language.ts';
import { isAway, queryClient } from '../portal.ts';
import { me, sessionState } from '../session.ts';
import { showToast } from '../ui/toast.tsx';
import { leaveWhenSaved } from '../ui/unsaved.ts';
import { markSeen, releaseNotice } from './release-queries.ts';

const texts = catalogue({
  de: { isNew: (version: string) => `Das Portal hat jetzt Version ${version}.`, read: 'Was ist neu?' },
  en: { isNew: (version: string) => `The portal now has version ${version}.`, read: 'What’s new?' },
});

const page = '/app/whats-new';
const shownMs = 20_000;
const lookAgainMs = 5_000;

const isInDialog = () => document.querySelector('dialog[open]') !== null;

/** Tells once of a release that is new to the account. Until the message has ended, another window may tell of it, too. */
export async function announceRelease(go: (path: string) => void): Promise<void> {
  // News must not cover what the person is about to do.
  while (isInDialog()) await new Promise((resolve) => setTimeout(resolve, lookAgainMs));
  if (isAway.value || sessionState.value !== 'signedIn' || location.pathname === page) return;
  // It can wait until the next page load.
  const notice = await queryClient.fetchQuery({ ...releaseNotice, retry: false }).catch(() => null);
  if (!notice?.isNew) return;
  const t = texts.value;
  const { version } = notice.running;
  const accountId = me.value?.id;
  showToast(t.isNew(version), {
    action: { label: t.read, run: () => leaveWhenSaved(() => go(page)) },
    shownMs,
    onEnd: () => {
      // Another account may have signed in meanwhile.
      if (me.value?.id === accountId && sessionState.value === 'signedIn')
        void markSeen(version).catch(() => undefined);
    },
  });
}
