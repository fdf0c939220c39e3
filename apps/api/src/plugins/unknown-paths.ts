import findMyWay from 'find-my-way';
import { notFound } from '@portal/domain/errors';
import type { App } from '../zod-app.ts';
import { errorBody, jsonType } from './error-body.ts';

/**
 * Answers an unknown path with 404, and an unsupported method with 405 and `Allow`, before the session check and before reading the
 * body.
 */
export function answerUnknownPaths(app: App): void {
  const methodsOf = new Map<string, Set<string>>();
  app.addHook('onRoute', ({ method, url }) => {
    const methods = methodsOf.get(url) ?? new Set();
    methodsOf.set(url, methods);
    for (const each of [method].flat()) methods.add(each);
  });
  // Built for the first unknown path: it is as large as the server's router.
  let paths: ReturnType<typeof pathsOf> | undefined;
  app.addHook('onRequest', (request, reply, done) => {
    // `*` is the route of @fastify/cors for OPTIONS on every path.
    if (!request.is404 && request.routeOptions.url !== '*') return done();
    const [path = ''] = request.url.split('?', 1);
    paths ??= pathsOf(methodsOf);
    const methods = paths.find('GET', path)?.store as Set<string> | undefined;
    if (!methods) return done(notFound());
    reply
      .code(405)
      .header('allow', [...methods].toSorted().join(', '))
      .type(jsonType)
      .send(JSON.stringify(errorBody('METHOD_NOT_ALLOWED', `This path does not support ${request.method}.`)));
  });
}

function pathsOf(methodsOf: ReadonlyMap<string, ReadonlySet<string>>) {
  const paths = findMyWay({ caseSensitive: true });
  // GET is only a placeholder, so that each path is stored once.
  for (const [url, methods] of methodsOf) paths.on('GET', url, () => undefined, methods);
  return paths;
}
