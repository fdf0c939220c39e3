import { expect, it } from 'vitest';
import { countedAddress } from './counted-address.ts';

it.each([
  ['192.0.2.7', '192.0.2.7'],
  ['::ffff:192.0.2.7', '192.0.2.7'],
  ['::FFFF:c000:0207', '192.0.2.7'],
  ['0:0:0:0:0:ffff:192.0.2.7', '192.0.2.7'],
  ['2001:db8:1:2::1', '2001:db8:1:2::/64'],
  ['2001:db8:1:2:ffff:ffff:ffff:ffff', '2001:db8:1:2::/64'],
  ['2001:0DB8:0001:0002:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2:3:4:192.0.2.7', '2001:db8:1:2::/64'],
  ['2001:db8::', '2001:db8:0:0::/64'],
  ['2001:db8::5:6:7:8:9', '2001:db8:0:5::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ['::1', '0:0:0:0::/64'],
  ['::', '0:0:0:0::/64'],
  ['::fffe:192.0.2.7', '0:0:0:0::/64'],
])('%s counts as %s', (address, network) => expect(countedAddress(address)).toBe(network));

it.each(['', 'ada', 'ada:lovelace', '::ffff:999.0.2.7', '2001:db8::1::2', '192.0.2.7, 192.0.2.8'])(
  'what is no address counts as itself: %s',
  (text) => expect(countedAddress(text)).toBe(text),
);
