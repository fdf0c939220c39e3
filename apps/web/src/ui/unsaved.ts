import { signal } from '@preact/signals';
import { useLocation } from 'preact-iso/router';
import { useLayoutEffect, useState } from 'preact/hooks';
import { guardHistory } from './history-guard.ts';

/**
 * Where the person wants to go while something is not saved; null while nothing is to be asked. `LeaveDialog` asks, once for each new
 * function.
 */
export const wantedLeave = signal<(() => void) | null>(null);

interface Shown {
  isDirty: () => boolean;
}

/** Each form that is shown. */
const forms = new Set<Shown>();
/** The address of the page with these forms. */
let here = '';
/** The person decided to discard, so the next way out is free. */
let isLeaving = false;
let watching: AbortController | undefined;

/**
 * While a form is dirty, the person is asked before a link, the back button or closing the window takes the page away. A function is asked
 * when it matters.
 */
export function useUnsavedChanges(isDirty: boolean | (() => boolean)): void {
  const { url } = useLocation();
  const [form] = useState<Shown>(() => ({ isDirty: () => false }));
  useLayoutEffect(() => {
    form.isDirty = typeof isDirty === 'function' ? isDirty : () => isDirty;
  }, [isDirty]);
  useLayoutEffect(() => {
    forms.add(form);
    here = url;
    watching ??= watch();
    return () => {
      forms.delete(form);
      if (forms.size > 0) return;
      watching?.abort();
      watching = undefined;
      guardHistory(null);
    };
  }, [url]);
}

/** The forms that are shown now. */
export const shownForms = (): ReadonlySet<object> => new Set(forms);

/** Goes at once, or asks first if something is not saved. For ways out that are no links. Forms of `others` stay, so they do not count. */
export function leaveWhenSaved(leave: () => void, others: ReadonlySet<object> = new Set()): void {
  if (isUnsaved(others)) wantedLeave.value = () => leave();
  else leave();
}

const isUnsaved = (others: ReadonlySet<object> = new Set()): boolean =>
  [...forms].some((form) => !others.has(form) && form.isDirty());

function watch(): AbortController {
  isLeaving = false;
  const end = new AbortController();
  const { signal: ended } = end;
  // The browser has its own question.
  addEventListener('beforeunload', (event) => isUnsaved() && event.preventDefault(), { signal: ended });
  // Before the router, which listens at the window
  document.addEventListener('click', onClick, { signal: ended, capture: true });
  guardHistory(onPopState);
  return end;
}

function onClick(event: MouseEvent): void {
  const link = event.target instanceof Element ? event.target.closest<HTMLAnchorElement>('a[href]') : null;
  if (isLeaving || !link || !leadsAway(event, link, here) || !isUnsaved()) return;
  event.preventDefault();
  event.stopPropagation();
  wantedLeave.value = () => {
    isLeaving = true;
    // The same click again, with all that others do on it.
    link.click();
    isLeaving = false;
  };
}

function onPopState(event: PopStateEvent): void {
  if (isLeaving) {
    isLeaving = false;
    return;
  }
  if (location.pathname + location.search === here || !isUnsaved()) return;
  event.stopImmediatePropagation();
  // The browser has already changed the address, but the page stays: so its address becomes the newest, one step after the wanted one.
  history.pushState(null, '', here);
  wantedLeave.value = () => {
    isLeaving = true;
    history.back();
  };
}

type Click = Pick<MouseEvent, 'button' | 'ctrlKey' | 'metaKey' | 'altKey' | 'shiftKey'>;
type Link = Pick<HTMLAnchorElement, 'origin' | 'pathname' | 'search' | 'target' | 'download' | 'getAttribute'>;

/** True if this click shows another page of the portal in this window. Others open beside it, or the browser asks on closing. */
export function leadsAway(click: Click, link: Link, from: string, origin = location.origin): boolean {
  if (click.button !== 0 || click.ctrlKey || click.metaKey || click.altKey || click.shiftKey) return false;
  if (link.origin !== origin || link.download || !/^(?:_self)?$/i.test(link.target)) return false;
  return !link.getAttribute('href')?.startsWith('#') && link.pathname + link.search !== from;
}
