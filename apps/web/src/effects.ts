import { options } from 'preact';

/** What a person does, and what follows from it without a key or a pointer, such as a paste from a menu. */
const events = ['keydown', 'pointerdown', 'click', 'input', 'change', 'submit', 'paste', 'drop'];

/** Preact itself waits as long for a frame: a hidden page draws none. */
const mostMs = 35;

let waiting: (() => void) | null = null;

/**
 * Effects run after the next frame, as Preact would run them, but before what the person does next. They tell mutations and listeners what
 * the page has drawn; without this, Enter right after the last letter would send the form without that letter.
 */
export function runEffectsBeforeEvents(): void {
  options.requestAnimationFrame = (effects) => {
    const run = () => {
      if (waiting !== run) return;
      waiting = null;
      effects();
    };
    waiting = run;
    const afterFrame = () => {
      clearTimeout(timer);
      cancelAnimationFrame(frame);
      setTimeout(run);
    };
    const timer = setTimeout(afterFrame, mostMs);
    const frame = requestAnimationFrame(afterFrame);
  };
  for (const type of events) addEventListener(type, () => waiting?.(), { capture: true });
}
