import { describe, expect, it } from 'vitest';
import { explainFailure } from './explain-failure.ts';

describe('explainFailure', () => {
  it('tells every message down the chain of causes once', () => {
    const root = new Error('no slot left');
    expect(
      explainFailure(
        new Error('The database cannot be reached.', { cause: new Error('no slot left', { cause: root }) }),
      ),
    ).toBe('The database cannot be reached.\nno slot left');
  });

  it('tells the parts of an error that is only a collection', () => {
    const refused = new AggregateError([new Error('refused ::1'), new Error('refused 127.0.0.1')]);
    expect(explainFailure(refused)).toBe('refused ::1\nrefused 127.0.0.1');
  });

  it('ends on causes that form a ring', () => {
    const error = new Error('again');
    error.cause = error;
    expect(explainFailure(error)).toBe('again');
  });

  it('tells what was thrown when it is no error', () => {
    expect(explainFailure('stop')).toBe('stop');
  });
});
