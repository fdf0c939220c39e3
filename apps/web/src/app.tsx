import { signal } from '@preact/signals';
import { QueryClientProvider } from '@tanstack/preact-query';
import { LocationProvider, useLocation } from 'preact-iso/router';
import { useEffect } from 'preact/hooks';
import { lazy } from './lazy.tsx';
import { openSession, sessionFailure } from './open-session.ts';
import { queryClient } from './portal.ts';
import { routeAt } from './routes.ts';
import { me, sessionState } from './session.ts';
import { readModulesAhead } from './shell/modules.ts';
import { watchHistory } from './ui/history-guard.ts';
import { FailedState, Skeleton } from './ui/states.tsx';

const Frame = lazy(() => import('./signed-in.ts').then(({ Frame }) => Frame));

watchHistory();

/** What takes longer is drawn when it is there, after the rest. */
const togetherMs = 1_000;

/** True while the parts of the first page arrive. Drawn together, they cost half of what they cost one after the other. */
const isGathering = signal(false);

// The scripts of the page and its data arrive at the same time, instead of one after the other.
const first = routeAt(location.pathname);
const page = first?.Page.preload();
if (first?.who !== 'public') void gather([page, Frame.preload(), openSession().then(readFrameAhead)]);

async function readFrameAhead(): Promise<void> {
  if (me.value?.mustChangePassword === false) await readModulesAhead();
}

async function gather(parts: readonly unknown[]): Promise<void> {
  isGathering.value = true;
  await Promise.race([Promise.all(parts), new Promise((resolve) => setTimeout(resolve, togetherMs))]);
  isGathering.value = false;
}

export function App() {
  return (
    <QueryClientProvider client={queryClient}>
      <LocationProvider>
        <CurrentPage />
      </LocationProvider>
    </QueryClientProvider>
  );
}

function CurrentPage() {
  const { path, url, route: go } = useLocation();
  const route = routeAt(path);
  const isPublic = route?.who === 'public';
  const state = sessionState.value;
  const mustChangePassword = me.value?.mustChangePassword ?? false;
  const isChangingPassword = path === '/app/change-password';

  useEffect(() => {
    if (isPublic) return;
    const here = encodeURIComponent(url);
    if (state === 'unknown') void openSession();
    if (state === 'none') go(`/app/sign-in?next=${here}`, true);
    if (mustChangePassword && !isChangingPassword) go(`/app/change-password?next=${here}`, true);
  }, [isPublic, state, mustChangePassword, isChangingPassword]);

  if (route && isPublic) return <route.Page />;
  if (sessionFailure.value) return <FailedState error={sessionFailure.value} onRetry={() => void openSession()} />;
  if (!me.value || isGathering.value || (mustChangePassword && !isChangingPassword)) return <Skeleton />;
  // Without the frame: every call that it makes would be refused until the password is changed.
  if (route && mustChangePassword) return <route.Page />;
  return <Frame route={route} />;
}
