import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * Files that mostly wait, for minutes: until a queue returns the job of a killed worker, until a lease ends, until a slow caller is
 * disconnected.
 */
const waits = /\/apps\/worker\/src\/(?!.*metrics)|\/slow-callers\.test\.ts$/;
/** They begin within this part of their project, so that other files still run beside the last of them. */
const part = 0.75;

/**
 * The order of a whole run: longest first in each project, as Vitest has it, with two exceptions. Files with a process of their own come
 * first, because the processes of the others end where such a file is next. Files that mostly wait begin apart from each other: side by
 * side they would leave the processors without work.
 */
export class TestOrder extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- Vitest's own method, which returns a new list
    const sorted = await super.sort(files);
    const shared = Map.groupBy(sorted.filter(sharesProcess), ({ project }) => project.name);
    return [
      ...sorted.filter((file) => !sharesProcess(file)),
      ...[...shared.values()].flatMap((ofProject) => spreadOut(ofProject, ({ moduleId }) => waits.test(moduleId))),
    ];
  }
}

const sharesProcess = ({ project }: TestSpecification): boolean => !project.config.isolate;

/** Moves the items that match away from each other, the first to the beginning. Keeps the order of the others. */
export function spreadOut<T>(items: readonly T[], matches: (item: T) => boolean): T[] {
  const [some, others] = [items.filter(matches), items.filter((item) => !matches(item))];
  const apart = Math.max(1, Math.floor((others.length * part) / some.length));
  const mixed = others.flatMap((item, n) => (n % apart === 0 ? [...some.splice(0, 1), item] : [item]));
  return [...mixed, ...some];
}
