import { useQuery } from '@tanstack/preact-query';
import type { Profile } from '@portal/client/interface';
import { useMutation } from '../mutation.ts';
import { signOut } from '../open-session.ts';
import { portal, queryClient } from '../portal.ts';
import { me, setMe } from '../session.ts';
import { finishWaiting } from '../shell/before-leaving.ts';
import { avatarVersion } from './avatar-version.ts';

/** The fields of the own profile that `PATCH /users/me` takes. */
interface ProfileChange {
  accentColor?: string;
  displayName?: string | null;
  language?: Profile['language'];
  theme?: Profile['theme'];
  email?: string | null;
  currentPassword?: string;
}

// Each answer is the whole profile, so an earlier one must not arrive after a later one.
const scope = { id: 'accounts.profile' };

export const useSaveProfile = () =>
  useMutation({ scope, mutationFn: (body: ProfileChange) => portal.patch('/users/me', { body }), onSuccess: setMe });

export const useSaveBackground = () =>
  useMutation({
    scope,
    mutationFn: (body: Profile['dashboardBackground']) => portal.patch('/users/me/dashboard-background', { body }),
    onSuccess: setMe,
  });

export const useSaveAvatar = () =>
  useMutation({
    scope,
    mutationFn: (file: Blob) => portal.post('/users/me/avatar', { body: { file } }),
    onSuccess: () => showAvatar(true),
  });

export const useRemoveAvatar = () =>
  useMutation({ scope, mutationFn: () => portal.delete('/users/me/avatar'), onSuccess: () => showAvatar(false) });

function showAvatar(hasAvatar: boolean): void {
  avatarVersion.value = Date.now();
  if (me.value) setMe({ ...me.value, hasAvatar });
}

const sessionsKey = ['accounts', 'sessions'];

export const useSessions = () =>
  useQuery({ queryKey: sessionsKey, queryFn: ({ signal }) => portal.get('/auth/sessions', { signal }) });

export const useEndSession = () =>
  useMutation({
    mutationFn: (id: string) => portal.delete('/auth/sessions/{id}', { params: { path: { id } } }),
    onSettled: refreshSessions,
  });

/** Ends all sessions, also that of this window, whose page then leads to the sign-in. */
export const useEndAllSessions = () =>
  useMutation({
    mutationFn: async () => {
      await finishWaiting();
      await portal.post('/auth/logout-all');
      await signOut();
    },
  });

/** Lists the sessions again: some have ended. */
export const refreshSessions = (): Promise<void> => queryClient.invalidateQueries({ queryKey: sessionsKey });
