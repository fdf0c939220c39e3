import type { Handler } from './handler.ts';
import type { AnyJob } from './job.ts';
import { type Schedule, scheduleId } from './schedules.ts';

export interface WorkerParts {
  /** Every job there is; each needs its handler. */
  contracts: AnyJob[];
  handlers: Handler[];
  schedules: Schedule[];
}

/** Throws, naming all of it, when contracts, handlers and schedules do not fit together. */
export function checkParts({ contracts, handlers, schedules }: WorkerParts): void {
  const handled = handlers.map(({ job }) => job);
  const twice = (jobs: AnyJob[]) =>
    jobs.filter((job, index) => jobs.findIndex(({ name }) => name === job.name) !== index);
  const problems = [
    ...twice(contracts).map(({ name }) => `two jobs are called ${name}`),
    ...twice(handled).map(({ name }) => `${name} has two handlers`),
    ...contracts.filter((job) => !handled.includes(job)).map(({ name }) => `${name} has no handler`),
    ...handled.filter((job) => !contracts.includes(job)).map(({ name }) => `${name} is not in the list of jobs`),
    ...schedules
      .filter(({ job }) => !handled.includes(job))
      .map(({ job }) => `${job.name} has a schedule but no handler`),
    ...schedules
      .map(scheduleId)
      .filter((id, index, all) => all.indexOf(id) !== index)
      .map((id) => `${id} has two schedules`),
  ];
  if (problems.length > 0) throw new Error(`Jobs and handlers do not fit together: ${problems.join('; ')}.`);
}
