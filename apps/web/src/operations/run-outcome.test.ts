import { afterEach, describe, expect, it } from 'vitest';
import { language } from '../language.ts';
import { isOver, runErrorText } from './run-outcome.ts';

const before = language.value;
afterEach(() => {
  language.value = before;
});

describe('a run', () => {
  it('is over once it succeeded or failed', () => {
    expect((['queued', 'running', 'succeeded', 'failed'] as const).filter((state) => isOver({ state }))).toEqual([
      'succeeded',
      'failed',
    ]);
  });

  it('says why it failed in German, and as the service says it if that is not known', () => {
    language.value = 'de';
    expect(runErrorText('The work took longer than 90 seconds and was stopped.')).toContain('90 Sekunden');
    expect(runErrorText('The moon was full.')).toBe('The moon was full.');
    language.value = 'en';
    expect(runErrorText('The mailbox cannot be read.')).toBe('The mailbox cannot be read.');
  });
});
