import findMyWay from 'find-my-way';
import { notFound } from '@portal/domain/errors';
import type { App } from '../zod-app.ts';
import { errorBody, jsonType } from './error-body.ts';

/**
 * Answers a path that does not exist with 404, and a method that a path does not have with 405 and `Allow`.
 * Both come before any session is asked for and before a body is read.
 */
export function answerUnknownPaths(app: App): void {
  const methodsOf = new Map<string, Set<string>>();
  app.addHook('onRoute', ({ method, url }) => {
    const methods = methodsOf.get(url) ?? new Set();
    methodsOf.set(url, methods);
    for (const each of [method].flat()) methods.add(each);
  });
  // Made for the first such path: it is as large as the router of the server.
  let paths: ReturnType<typeof pathsOf> | undefined;
  app.addHook('onRequest', (request, reply, done) => {
    // `*` is the route of @fastify/cors, which takes the OPTIONS of every path.
    if (!request.is404 && request.routeOptions.url !== '*') return done();
    const [path = ''] = request.url.split('?', 1);
    paths ??= pathsOf(methodsOf);
    const methods = paths.find('GET', path)?.store as Set<string> | undefined;
    if (!methods) return done(notFound());
    reply
      .code(405)
      .header('allow', [...methods].toSorted().join(', '))
      .type(jsonType)
      .send(JSON.stringify(errorBody('METHOD_NOT_ALLOWED', `This path does not take ${request.method}.`)));
  });
}

function pathsOf(methodsOf: ReadonlyMap<string, ReadonlySet<string>>) {
  const paths = findMyWay({ caseSensitive: true });
  // The method under which a path is filed here says nothing; each path is filed once.
  for (const [url, methods] of methodsOf) paths.on('GET', url, () => undefined, methods);
  return paths;
}
