import { signal } from '@preact/signals';

type Overlay = 'palette' | 'help' | 'bugReport' | 'customModule' | 'modules' | 'account';

/** The dialog of the frame that is open; one at a time. */
export const overlay = signal<Overlay | null>(null);

export function openOverlay(which: Overlay): void {
  overlay.value = which;
}

export function closeOverlay(): void {
  overlay.value = null;
}
