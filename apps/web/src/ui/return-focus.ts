/** Puts the focus back to where it was; to the content of the page if that place is gone. */
export function returnFocus(to: Element | null): void {
  const isThere = to instanceof HTMLElement && to.isConnected && to !== document.body;
  const target = isThere ? to : document.querySelector<HTMLElement>('main');
  target?.focus({ preventScroll: true });
}
