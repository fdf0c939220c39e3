import { describe, expect, it } from 'vitest';
import { portalIdsIn } from './portal-ids.ts';

describe('portalIdsIn', () => {
  it.each([
    ['https://www.subreport.de/E12345678', ['subreport:E12345678']],
    ['https://www.subreport-elvis.de/a/b/E12345678?x', ['subreport:E12345678']],
    ['subreport.de/subreport.de/E1234', ['subreport:E1234']],
    ['https://www.evergabe-online.de/tenderdetails.html?a=1&amp;id=4711', ['evergabe-online:4711']],
    ['https://www.evergabe-online.de/tenderdocuments.html?id=4711', ['evergabe-online:4711']],
  ])('%s', (link, ids) => expect(portalIdsIn([link])).toEqual(ids));

  it.each(['subreport.de/', 'evergabe-online.de/tenderdetails.html?', 'evergabe-online.de/tenderdetails.html?&'])(
    'takes less than a second of processor time for 250 texts of 20 kB of %s',
    (link) => {
      const text = link.repeat(20_000 / link.length);
      const before = process.cpuUsage();
      expect(portalIdsIn(Array.from({ length: 250 }, () => text))).toEqual([]);
      expect(process.cpuUsage(before).user / 1_000).toBeLessThan(1_000);
    },
  );
});
