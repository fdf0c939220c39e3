import { QueryClientProvider } from '@tanstack/preact-query';
import { LocationProvider, useLocation } from 'preact-iso/router';
import { useEffect } from 'preact/hooks';
import { lazy } from './lazy.tsx';
import { openSession, sessionFailure } from './open-session.ts';
import { queryClient } from './portal.ts';
import { routeAt } from './routes.ts';
import { me, sessionState } from './session.ts';
import { watchHistory } from './ui/history-guard.ts';
import { FailedState, Skeleton } from './ui/states.tsx';

const Frame = lazy(() => import('./shell/frame.tsx').then(({ Frame }) => Frame));

watchHistory();

// The scripts of the page and the account arrive at the same time, instead of one after the other.
const first = routeAt(location.pathname);
void first?.Page.preload();
if (first?.who !== 'public') {
  void Frame.preload();
  void openSession();
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
  if (!me.value || (mustChangePassword && !isChangingPassword)) return <Skeleton />;
  // Without the frame: every call that it makes would be refused until the password is changed.
  if (route && mustChangePassword) return <route.Page />;
  return <Frame route={route} />;
}
