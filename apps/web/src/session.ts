import { computed, signal } from '@preact/signals';
import type { Profile } from '@portal/client/interface';
import { setLanguage } from './language.ts';
import { setAccent, setTheme } from './theme.ts';

/** The signed-in account; null before the sign-in and after the sign-out. */
export const me = signal<Profile | null>(null);

/** `lost` if the session ended while the account was at work: a dialog over the page asks for the password again. */
export const sessionState = signal<'unknown' | 'none' | 'signedIn' | 'lost'>('unknown');

export const isAdmin = computed(() => me.value?.role === 'ADMIN' || me.value?.role === 'SUPER_ADMIN');

const sessions = new BroadcastChannel('portal.session');

// Another window signed in as another account, and the cookie is common to all windows.
sessions.addEventListener('message', ({ data: accountId }: MessageEvent<string>) => {
  if (me.value && me.value.id !== accountId) location.reload();
});

/** The account signed in, or its profile changed. Applies its language, theme and accent. */
export function setMe(profile: Profile): void {
  if (me.value?.id !== profile.id) sessions.postMessage(profile.id);
  me.value = profile;
  sessionState.value = 'signedIn';
  setLanguage(profile.language);
  setTheme(profile.theme);
  setAccent(profile.accentColor);
}

/** The service no longer accepts the session. Open pages stay, so that nothing typed is lost. */
export function loseSession(): void {
  sessionState.value = me.value ? 'lost' : 'none';
}
