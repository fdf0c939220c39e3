import { describe, expect, it } from 'vitest';
import { unavailable } from '@portal/domain/errors';
import { describeFailure } from './failure.ts';

/** A failed statement, as the query builder throws it. */
const failedStatement = () => {
  const refusal = Object.assign(new Error('duplicate key value'), {
    code: '23505',
    constraint: 'users_username_unique',
    detail: 'Key (username)=(anna)',
  });
  return Object.assign(
    new Error('Failed query: insert into users values ($1)\nparams: anna,hash-of-anna', { cause: refusal }),
    {
      query: 'insert into users values ($1)',
      params: ['anna', 'hash-of-anna'],
    },
  );
};

describe('describeFailure', () => {
  it('says what failed and where, without the parameters of the statement', () => {
    const described = describeFailure(failedStatement());
    expect(described).toMatchObject({
      type: 'Error',
      message: 'Failed query: insert into users values ($1)',
      stack: expect.stringContaining('failure.test.ts'),
      cause: { message: 'duplicate key value', code: '23505', constraint: 'users_username_unique' },
    });
    expect(JSON.stringify(described)).not.toMatch(/anna/);
  });

  it('shows the origin of a deliberate refusal once', () => {
    const began = new TypeError('not a function');
    const { stack, cause } = describeFailure(unavailable('Away.', new Error('could not be read', { cause: began })));
    expect([stack, cause?.message, cause?.stack]).toEqual([undefined, 'could not be read', undefined]);
    expect(cause?.cause).toMatchObject({ type: 'TypeError', stack: expect.stringContaining('failure.test.ts') });
    expect(describeFailure(unavailable('Away.')).stack).toContain('failure.test.ts');
  });

  it('ends for an error that is its own cause', () => {
    const error = new Error('bites its own tail');
    error.cause = error;
    expect(JSON.stringify(describeFailure(error)).match(/bites its own tail/g)?.length).toBeLessThan(20);
  });

  it('describes any thrown value', () => {
    expect(describeFailure('a string')).toMatchObject({ type: 'string', message: 'a string' });
    expect(describeFailure(undefined)).toMatchObject({ type: 'undefined' });
    expect(describeFailure(Object.create(null) as object)).toMatchObject({
      type: 'object',
      message: 'a thrown value that is not an error',
    });
  });
});
