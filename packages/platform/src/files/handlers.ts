import type { Area } from '../area.ts';
import { type Handler, handle } from '../jobs/handler.ts';
import { sweepFiles } from './jobs.ts';
import { sweepOrphanFiles } from './sweep-orphans.ts';

export function filesHandlers(areas: readonly Area[]): Handler[] {
  const owners = areas.flatMap(({ files = [] }) => files);
  return [handle(sweepFiles, (ctx, _payload, { signal }) => sweepOrphanFiles(ctx, owners, signal))];
}
