import type { z } from 'zod';
import type { App } from '../zod-app.ts';

/** Gives every route that declares one success answer its status, so that no handler names it again. */
export function answerWithDeclaredStatus(app: App): void {
  app.addHook('onRoute', (route) => {
    const declared = Object.keys((route.schema?.response ?? {}) as Record<string, z.ZodType>).map(Number);
    const [status, ...others] = declared.filter((code) => code >= 200 && code < 300);
    if (status === undefined || status === 200 || others.length > 0) return;
    const own = route.preHandler === undefined ? [] : [route.preHandler].flat();
    route.preHandler = [
      ...own,
      (_request, reply, done) => {
        reply.code(status);
        done();
      },
    ];
  });
}
