// Preloaded into a program (`node --import FILE-URL?ms=90000`): sets its clock `ms` milliseconds ahead of the machine's.
const shiftMs = Number(new URL(import.meta.url).searchParams.get('ms'));

class ShiftedDate extends Date {
  constructor(...args: unknown[]) {
    super(...((args.length === 0 ? [ShiftedDate.now()] : args) as [number]));
  }

  static override now(): number {
    return super.now() + shiftMs;
  }
}

globalThis.Date = ShiftedDate as DateConstructor;
