import { signal } from '@preact/signals';
import { PortalError } from '@portal/client/portal-error';
import { portal, queryClient } from './portal.ts';
import { loseSession, me, sessionState, setMe } from './session.ts';

/** Why it is not known whether an account is signed in; null while it is, or while the answer is under way. */
export const sessionFailure = signal<unknown>(null);

let opening: Promise<void> | null = null;

/** Finds out whose session the browser has. Calls at the same time share one answer. */
export function openSession(): Promise<void> {
  opening ??= askForAccount().finally(() => {
    opening = null;
  });
  return opening;
}

async function askForAccount(): Promise<void> {
  sessionFailure.value = null;
  try {
    setMe(await portal.get('/auth/me'));
  } catch (error) {
    if (error instanceof PortalError && error.status === 401) loseSession();
    else sessionFailure.value = error;
  }
}

/** Ends the session and forgets everything that belongs to the account. */
export async function signOut(): Promise<void> {
  await portal.post('/auth/logout');
  me.value = null;
  sessionState.value = 'none';
  queryClient.clear();
}
