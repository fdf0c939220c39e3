import { texts } from './texts.ts';

/** A sentence of the service, which speaks English, in the language of the page as far as it has the words. */
export function Sentence({ children }: { children: string }) {
  const words = texts.value.sentence(children);
  return words === null ? <span lang="en">{children}</span> : <span>{words}</span>;
}
