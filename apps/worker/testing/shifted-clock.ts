// Loaded before a program (`node --import FILE-URL?ms=90000`): its clock goes so many milliseconds ahead of the machine's.
const shiftMs = Number(new URL(import.meta.url).searchParams.get('ms'));

class ShiftedDate extends Date {
  constructor(...given: unknown[]) {
    super(...((given.length === 0 ? [ShiftedDate.now()] : given) as [number]));
  }

  static override now(): number {
    return super.now() + shiftMs;
  }
}

globalThis.Date = ShiftedDate as DateConstructor;
