import type { App } from '../zod-app.ts';

/** Sets the status of every route with one success answer. Fastify defaults to 200, and some fifty handlers would repeat the status. */
export function answerWithDeclaredStatus(app: App): void {
  app.addHook('onRoute', (route) => {
    const [status, ...others] = Object.keys(route.schema?.response ?? {}).filter((code) => code.startsWith('2'));
    if (status === undefined || others.length > 0) return;
    const own = [route.preHandler ?? []].flat();
    route.preHandler = [...own, (_request, reply, done) => done(void reply.code(Number(status)))];
  });
}
