import { tooMuch } from './not-usable.ts';

/** When work that its input can make last has to end by itself, so that what was done before is not lost with the process. */
export class Deadline {
  readonly #at: number;

  constructor(ms: number) {
    this.#at = performance.now() + ms;
  }

  get isPast(): boolean {
    return performance.now() > this.#at;
  }

  /** Throws once time is up. */
  check(): void {
    if (this.isPast) throw tooMuch('It takes too long to read. Please send it by itself.');
  }
}
