import { expect, it } from 'vitest';
import { open } from '@portal/domain/access';
import { testApp } from '../../testing/app.ts';

const access = open('a test calls it');

const { request } = await testApp({
  routes: (app) => {
    app.get('/things', { config: { access } }, (_request, reply) => void reply.send([]));
    app.post('/things', { config: { access } }, (_request, reply) => void reply.send({}));
    app.put('/things/order', { config: { access } }, (_request, reply) => void reply.send({}));
    app.delete('/things/:id', { config: { access } }, (_request, reply) => void reply.send({}));
  },
});

const notFound = { statusCode: 404, error: 'Not Found', code: 'NOT_FOUND', message: 'There is nothing here.' };

it.each(['/nowhere', '/things/1/2', '/Things', '/things/order/', '//things', '//', '/nowhere?x=1', '/things;x'])(
  'answers 404 for %s, with any method and body',
  async (url) => {
    for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'QUERY', 'PROPFIND'] as const) {
      const answer = await request({
        method: method,
        url,
        headers: { 'content-type': 'application/json', cookie: 'portal_session=rubbish' },
        ...(method !== 'GET' && { payload: '{' }),
      });
      expect(answer.json()).toEqual(notFound);
    }
    expect((await request({ method: 'HEAD', url })).statusCode).toBe(404);
  },
);

it.each([
  ['DELETE', '/things', 'GET, HEAD, POST'],
  ['PATCH', '/things?x=1', 'GET, HEAD, POST'],
  ['OPTIONS', '/things', 'GET, HEAD, POST'],
  ['QUERY', '/things', 'GET, HEAD, POST'],
  ['PROPFIND', '/things', 'GET, HEAD, POST'],
  ['GET', '/things/7', 'DELETE'],
  ['HEAD', '/things/7', 'DELETE'],
  ['GET', '/things/order', 'PUT'],
  ['PUT', '/auth/me', 'GET, HEAD'],
])('answers 405 with Allow for %s %s, without asking for a session', async (method, url, allow) => {
  const answer = await request({
    method: method,
    url,
    headers: { 'content-type': 'application/json' },
    ...(method === 'PATCH' && { payload: '{' }),
  });
  expect(answer.statusCode).toBe(405);
  expect(answer.headers['allow']).toBe(allow);
  if (method !== 'HEAD')
    expect(answer.json()).toMatchObject({ statusCode: 405, error: 'Method Not Allowed', code: 'METHOD_NOT_ALLOWED' });
});
