import { tooMuch } from './not-usable.ts';

/** A time limit for work whose duration depends on the input. It ends before the process is killed, so that results are not lost. */
export class Deadline {
  readonly #at: number;

  constructor(ms: number) {
    this.#at = performance.now() + ms;
  }

  get isPast(): boolean {
    return performance.now() > this.#at;
  }

  /** Throws a NotUsableError once the time is up. */
  check(): void {
    if (this.isPast) throw tooMuch('It takes too long to read. Please send it alone.');
  }
}
