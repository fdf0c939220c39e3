import { signal } from '@preact/signals';
import { PortalError } from '@portal/client/portal-error';
import type * as errorTexts from '../error-texts.ts';
import { texts } from './texts.ts';

const words = signal<typeof errorTexts | null>(null);

/** Loads the words of all errors. Calling it before they are needed spares a wait. */
export function loadErrorTexts(): void {
  if (words.peek()) return;
  import('../error-texts.ts').then(
    (loaded) => {
      words.value = loaded;
    },
    // Until the script can be loaded, general words do.
    () => undefined,
  );
}

export interface ErrorText {
  text: string;
  code: string | null;
  requestId: string | null;
}

/** What to tell people about an error. Components that call this are drawn again once the words are loaded. */
export function useErrorText(error: unknown): ErrorText {
  const { value: loaded } = words;
  const { failed, away } = texts.value;
  if (!(error instanceof PortalError)) return { text: failed, code: null, requestId: null };
  const { code, requestId } = error;
  if (code === 'UNREACHABLE') return { text: away, code: null, requestId };
  if (!loaded) loadErrorTexts();
  return { text: loaded?.sentenceFor(error) ?? failed, code, requestId };
}

/** What to tell people about a refused field. `message` comes from the service. */
export function fieldTextOf(message: string): string {
  const { value: loaded } = words;
  if (!loaded) loadErrorTexts();
  return loaded?.fieldText(message) ?? texts.value.checkEntry;
}
