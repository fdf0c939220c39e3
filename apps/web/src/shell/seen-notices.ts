import { signal } from '@preact/signals';
import { me } from '../session.ts';

const prefix = 'portal.notices.';

/** Changes when this browser stores something about notices, also in another tab. */
const version = signal(0);

addEventListener('storage', ({ key }) => {
  if (key === null || key.startsWith(prefix)) version.value += 1;
});

// Each account of a shared browser has its own values.
const nameOf = (what: 'seen' | 'desktop') => `${prefix}${what}.${me.value?.id}`;

function read(what: 'seen' | 'desktop'): string | null {
  // Read again after each change.
  void version.value;
  return localStorage.getItem(nameOf(what));
}

function write(what: 'seen' | 'desktop', value: string | null): void {
  if (value === null) localStorage.removeItem(nameOf(what));
  else localStorage.setItem(nameOf(what), value);
  version.value += 1;
}

/** Time of the newest notice that the person has seen in this browser; null if none. */
export const seenUntil = (): string | null => read('seen');

export function markSeen(at: string): void {
  if (at > (seenUntil() ?? '')) write('seen', at);
}

/** Whether the person wants messages of the operating system; the browser must allow them, too. */
export const wantsDesktopNotices = (): boolean => read('desktop') === 'on';

export const setDesktopNotices = (isOn: boolean): void => write('desktop', isOn ? 'on' : null);
