import { useEffect } from 'preact/hooks';
import { closeOverlay, openOverlay, overlay } from './overlay.ts';
import { texts } from './texts.ts';

const isApple = /mac|iphone|ipad/i.test(navigator.platform);

/** The keys that open the palette, as the keyboard names them. */
export const searchKeys = (): string => (isApple ? '⌘K' : `${texts.value.control}+K`);

/** Ctrl+K, on Apple keyboards ⌘K, opens and closes the palette; `?` opens the help. Both rest while a dialog is open. */
export function useShortcuts(): void {
  useEffect(() => {
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, []);
}

function onKeyDown(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.altKey) return;
  const isSearch =
    (isApple ? event.metaKey && !event.ctrlKey : event.ctrlKey && !event.metaKey) &&
    !event.shiftKey &&
    event.key.toLowerCase() === 'k';
  const isHelp = event.key === '?' && !event.ctrlKey && !event.metaKey && !isField(event.target);
  if (!isSearch && !isHelp) return;
  // Otherwise the browser would open its own search.
  event.preventDefault();
  if (isSearch && overlay.value === 'palette') closeOverlay();
  else if (!document.querySelector('dialog[open]')) openOverlay(isSearch ? 'palette' : 'help');
}

const isField = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && (target.isContentEditable || target.matches('input, textarea, select'));
