import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

const title = () => document.title.replace(/^\(\d+\) /, '');

/** The name of the page that is shown; empty until the first one is. */
export const pageTitle = signal('');

/** Puts a number before each title that pages set; 0 removes it. */
export function useTabTitle(count: number): void {
  useEffect(() => {
    const element = document.querySelector('title');
    if (!element) return undefined;
    const update = () => {
      const wanted = count > 0 ? `(${count}) ${title()}` : title();
      if (document.title !== wanted) document.title = wanted;
      pageTitle.value = title().replace(/ · Portal$/, '');
    };
    update();
    const observer = new MutationObserver(update);
    observer.observe(element, { childList: true });
    return () => observer.disconnect();
  }, [count]);
}
