import { afterAll, describe, expect, it } from 'vitest';
import { language } from '../../language.ts';
import { texts } from './status-texts.ts';

const before = language.value;
afterAll(() => {
  language.value = before;
});

describe.each([
  ['de', '1 Störung', '2 Störungen', '1 Warnung', '2 Warnungen'],
  ['en', '1 fault', '2 faults', '1 warning', '2 warnings'],
] as const)('counts in %s', (wanted, fault, faults, warning, warnings) => {
  it('have a plural', () => {
    language.value = wanted;
    const { lightCounts, serverCounts } = texts.value;
    expect([lightCounts.red(1), lightCounts.red(2)]).toEqual([fault, faults]);
    expect([serverCounts.warning(1), serverCounts.warning(2)]).toEqual([warning, warnings]);
  });
});
