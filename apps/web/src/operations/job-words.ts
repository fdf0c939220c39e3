import { formatNumber } from '../language.ts';
import { texts } from './texts.ts';

/** What a kind of job does; of one that a later release added, its name. */
export function jobName(name: string): string {
  const known: Readonly<Record<string, string>> = texts.value.jobs;
  return (Object.hasOwn(known, name) && known[name]) || name;
}

export function queueName(queue: string): string {
  const known: Readonly<Record<string, string>> = texts.value.queues;
  return (Object.hasOwn(known, queue) && known[queue]) || queue;
}

/** When a job runs, in words. The service says `every 10 s` or a cron line such as `15 3 * * * (Europe/Berlin)`. */
export const scheduleText = (schedule: string | null): string =>
  schedule === null ? texts.value.onDemand : schedule.split('; ').map(rhythmText).join(', ');

function rhythmText(rhythm: string): string {
  const t = texts.value;
  const [, seconds] = /^every (\d+(?:\.\d+)?) s$/.exec(rhythm) ?? [];
  if (seconds !== undefined) return everyText(Number(seconds));
  const [, minute, hour] = /^(\d{1,2}) (\d{1,2}) \* \* \* \([\w/+-]+\)$/.exec(rhythm) ?? [];
  return minute && hour ? t.daily(`${hour.padStart(2, '0')}:${minute.padStart(2, '0')}`) : rhythm;
}

function everyText(seconds: number): string {
  const t = texts.value;
  if (seconds === 60) return t.everyMinute;
  return seconds % 60 === 0 ? t.everyMinutes(formatNumber(seconds / 60)) : t.everySeconds(formatNumber(seconds));
}

/** How long something took, such as `1,4 s`. */
export function durationText(ms: number): string {
  if (ms < 1_000) return `${formatNumber(ms, 0)} ms`;
  if (ms < 60_000) return `${formatNumber(ms / 1_000)} s`;
  return `${formatNumber(ms / 60_000)} min`;
}
