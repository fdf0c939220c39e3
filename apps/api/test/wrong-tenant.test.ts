import { expect, it } from 'vitest';
import { newId } from '@portal/domain/ids';
import { testApp } from '../testing/app.ts';
import { methodOf, withGoodBody } from './every-route.ts';
import { recordsOf } from './records.ts';

const { app, request, make, signedIn, runtime } = await testApp();

const us = await make.user({ role: 'ADMIN' });
const foreignIds = recordsOf({ make, signedIn, runtime }, await make.user({ role: 'ADMIN' }));

const routes = app.routeList.filter(({ method, url }) => url.includes(':') && method !== 'HEAD');

it('has a foreign record for every path with an id', () => {
  expect(Object.keys(foreignIds).toSorted()).toEqual([...new Set(routes.map(({ url }) => url))].toSorted());
});

it.each(routes.map((route) => [`${route.method} ${route.url}`, route] as const))(
  '%s answers another tenant’s record like an unknown one',
  async (_name, route) => {
    const foreign = foreignIds[route.url];
    if (typeof foreign !== 'function') return;
    const ask = async (id: string) => {
      const answer = await request({
        method: methodOf(route),
        url: route.url.replace(/:\w+/, id),
        as: us,
        ...withGoodBody(route),
      });
      return { status: answer.statusCode, body: answer.body };
    };
    const answer = await ask(await foreign());
    expect(answer).toMatchObject({ status: 404, body: expect.stringContaining('NOT_FOUND') });
    expect(answer).toEqual(await ask(newId()));
  },
);
