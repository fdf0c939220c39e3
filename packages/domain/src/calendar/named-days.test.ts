import { expect, it } from 'vitest';
import { hasNamedDays, namedTimes } from './named-days.ts';
import { recurrenceRuleOf } from './recurrence-rule.ts';

// Results of dateutil 2.9 for a series that begins on 1 January 2020 at 9:00.
it.each([
  ['FREQ=YEARLY;BYYEARDAY=1,2,3,4,5,6,7;BYDAY=MO;COUNT=3', '2020-01-06T09 2021-01-04T09 2022-01-03T09'],
  ['FREQ=YEARLY;BYYEARDAY=100,200,300;BYDAY=MO,TU;COUNT=4', '2020-10-26T09 2021-07-19T09 2022-07-19T09 2023-04-10T09'],
  ['FREQ=YEARLY;INTERVAL=2;BYYEARDAY=-1,-2,-3;BYDAY=FR,SA,SU;BYSETPOS=-1', '2022-12-31T09 2024-12-29T09 2028-12-31T09'],
  ['FREQ=YEARLY;BYYEARDAY=60,61,-306;BYMONTHDAY=1,29;COUNT=3', '2020-02-29T09 2020-03-01T09 2021-03-01T09'],
  ['FREQ=YEARLY;BYYEARDAY=32,33,34,35,36,37,38;BYMONTH=2;BYDAY=1MO;COUNT=2', '2020-02-03T09 2021-02-01T09'],
  ['FREQ=YEARLY;BYYEARDAY=366;BYDAY=TU,TH,FR;BYHOUR=20,8', '2020-12-31T08 2020-12-31T20 2024-12-31T08 2024-12-31T20'],
  ['FREQ=YEARLY;BYYEARDAY=1;BYMONTHDAY=2', ''],
  // Computed by hand from RFC 7529, 4.1 and its examples.
  [
    'RSCALE=GREGORIAN;FREQ=MONTHLY;SKIP=BACKWARD;BYMONTHDAY=31;COUNT=4',
    '2020-01-31T09 2020-02-29T09 2020-03-31T09 2020-04-30T09',
  ],
  [
    'RSCALE=GREGORIAN;FREQ=MONTHLY;SKIP=FORWARD;BYMONTHDAY=30,31;COUNT=5',
    '2020-01-30T09 2020-01-31T09 2020-03-01T09 2020-03-30T09 2020-03-31T09',
  ],
  [
    'RSCALE=GREGORIAN;FREQ=MONTHLY;SKIP=FORWARD;BYMONTHDAY=1,31;COUNT=6',
    '2020-01-01T09 2020-01-31T09 2020-02-01T09 2020-03-01T09 2020-03-31T09 2020-04-01T09',
  ],
  [
    'RSCALE=GREGORIAN;FREQ=YEARLY;SKIP=FORWARD;BYMONTH=2;BYMONTHDAY=29;COUNT=3',
    '2020-02-29T09 2021-03-01T09 2022-03-01T09',
  ],
  ['RSCALE=GREGORIAN;FREQ=YEARLY;SKIP=BACKWARD;BYMONTH=2;BYMONTHDAY=30;COUNT=2', '2020-02-29T09 2021-02-28T09'],
  ['RSCALE=GREGORIAN;FREQ=YEARLY;SKIP=BACKWARD;BYYEARDAY=366;COUNT=2', '2020-12-31T09 2021-12-31T09'],
  ['SKIP=FORWARD;FREQ=MONTHLY;BYMONTHDAY=-31;BYMONTH=1,2;COUNT=3', '2020-01-01T09 2020-02-01T09 2021-01-01T09'],
  ['FREQ = MONTHLY; SKIP=backward; BYMONTHDAY = 31; BYDAY = SA, SU; COUNT=2', '2020-02-29T09 2020-05-31T09'],
])('%s', (value, expected) => {
  const rule = recurrenceRuleOf(value, false);
  if (typeof rule === 'string') throw new Error(rule);
  expect(hasNamedDays(rule)).toBe(true);
  const start = Date.UTC(2020, 0, 1, 9);
  const times = [...namedTimes(rule, start, start, Date.UTC(2030, 0))];
  expect(times.map((time) => new Date(time).toISOString().slice(0, 13)).join(' ')).toBe(expected);
});

it('a rule with another RSCALE is refused', () => {
  expect(recurrenceRuleOf('RSCALE=CHINESE;FREQ=YEARLY', true)).toBe('SCALE_UNKNOWN');
  expect(recurrenceRuleOf('RSCALE=GREGORIAN;FREQ=YEARLY;SKIP=SIDEWARD', true)).toBe('RULE_UNREADABLE');
});

it('a rule that takes too many steps is given up', () => {
  const all = (count: number) => Array.from({ length: count }, (_, n) => n).join(',');
  const value = `FREQ=YEARLY;BYYEARDAY=${all(366).slice(2)};BYDAY=MO;BYMINUTE=${all(60)};BYSECOND=${all(60)}`;
  const rule = recurrenceRuleOf(value, false);
  if (typeof rule === 'string') throw new Error(rule);
  expect(() => [...namedTimes(rule, 0, 0, 1)]).toThrow('This rule takes too many steps.');
});
