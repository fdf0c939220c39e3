import type { Handler } from './handler.ts';
import type { AnyJob, OwnConcurrency } from './job.ts';
import { type Schedule, scheduleId } from './schedules.ts';

export interface WorkerParts {
  handlers: Handler[];
  schedules: Schedule[];
  concurrency?: OwnConcurrency;
}

/** Throws an error that lists all mismatches between handlers, schedules and concurrency. */
export function checkParts({ handlers, schedules, concurrency = {} }: WorkerParts): void {
  const handled = handlers.map(({ job }) => job);
  const twice = (jobs: AnyJob[]) =>
    jobs.filter((job, index) => jobs.findIndex(({ name }) => name === job.name) !== index);
  const problems = [
    ...twice(handled).map(({ name }) => `${name} has two handlers`),
    ...schedules
      .filter(({ job }) => !handled.includes(job))
      .map(({ job }) => `${job.name} has a schedule but no handler`),
    ...schedules
      .map(scheduleId)
      .filter((id, index, all) => all.indexOf(id) !== index)
      .map((id) => `${id} has two schedules`),
    ...Object.keys(concurrency)
      .filter((name) => !handled.some(({ queue }) => queue === name))
      .map((name) => `${name} has a concurrency but no jobs`),
    ...Object.entries(concurrency)
      .filter(([, own]) => typeof own !== 'number' && !(own.perTenant >= 1 && own.perTenant <= own.places))
      .map(([name]) => `${name} gives a tenant no slot, or more than there are`),
  ];
  if (problems.length > 0) throw new Error(`Jobs and schedules do not fit together: ${problems.join('; ')}.`);
}
