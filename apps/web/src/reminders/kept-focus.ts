import { useLayoutEffect, useRef } from 'preact/hooks';

/**
 * Keeps the keyboard in a list whose focused item goes: the focus moves to the item that takes its place. The items are `<li>` elements
 * with `tabIndex={-1}`. Spread the result onto the list.
 */
export function useKeptFocus<List extends HTMLElement>() {
  const ref = useRef<List>(null);
  const last = useRef<{ element: Element; index: number } | null>(null);
  const items = () => [...(ref.current?.querySelectorAll('li') ?? [])];

  useLayoutEffect(() => {
    if (!last.current || last.current.element.isConnected) return;
    const { index } = last.current;
    last.current = null;
    if (document.activeElement !== document.body) return;
    const next = items()[index] ?? items().at(-1) ?? document.querySelector<HTMLElement>('main');
    next?.focus({ preventScroll: true });
  });

  const onFocusIn = ({ target }: FocusEvent) => {
    if (!(target instanceof Element)) return;
    const item = target.closest('li');
    last.current = item && { element: target, index: items().indexOf(item) };
  };
  return { ref, onFocusIn };
}
