import { describe, expect, it } from 'vitest';
import { explainFailure } from './explain-failure.ts';

describe('explainFailure', () => {
  it('names every message in the chain of causes once', () => {
    const root = new Error('no slot left');
    expect(
      explainFailure(
        new Error('The database cannot be reached.', { cause: new Error('no slot left', { cause: root }) }),
      ),
    ).toBe('The database cannot be reached.\nno slot left');
  });

  it('names the errors in an aggregate without a message', () => {
    const refused = new AggregateError([new Error('refused ::1'), new Error('refused 127.0.0.1')]);
    expect(explainFailure(refused)).toBe('refused ::1\nrefused 127.0.0.1');
  });

  it('ends on a circular chain of causes', () => {
    const error = new Error('again');
    error.cause = error;
    expect(explainFailure(error)).toBe('again');
  });

  it.each([
    "ENOSPC: no space left on device, write '/data/keys.json.new'",
    'could not extend file "base/1/2691": wrote only 4096 of 8192 bytes at block 9\nHINT:  Check free disk space.',
    'could not write to file "pg_wal/xlogtemp.9990": No space left on device',
  ])('says what to do on a full disk: %s', (message) => {
    const explained = `It failed.\n${message}\nThe disk is full. Free some space and try again.`;
    expect(explainFailure(new Error('It failed.', { cause: new Error(message) }))).toBe(explained);
    expect(explainFailure(new Error(explained))).toBe(explained);
  });

  it('names a thrown value that is no error', () => {
    expect(explainFailure('stop')).toBe('stop');
  });
});
