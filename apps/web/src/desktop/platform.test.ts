import { describe, expect, it } from 'vitest';
import { choosePackages, type DesktopPackage, machineOf } from './platform.ts';

const windows = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0';
const mac = 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0';

describe('the machine', () => {
  it.each([
    ['of Windows', { userAgent: windows }, { system: 'windows', processor: 'x86_64' }],
    ['of Windows on ARM', { userAgent: windows, architecture: 'arm' }, { system: 'windows', processor: 'aarch64' }],
    ['of a Mac', { userAgent: mac }, { system: 'darwin', processor: null }],
    ['of a Mac that tells', { userAgent: mac, architecture: 'arm' }, { system: 'darwin', processor: 'aarch64' }],
    ['of a tablet that calls itself a Mac', { userAgent: mac, maxTouchPoints: 5 }, { system: null, processor: null }],
    ['of Linux', { userAgent: '(X11; Linux x86_64; rv:140.0)' }, { system: 'linux', processor: 'x86_64' }],
    ['of Linux on ARM', { userAgent: '(X11; Linux aarch64)' }, { system: 'linux', processor: 'aarch64' }],
    ['of a phone', { userAgent: '(Linux; Android 15; K) Mobile' }, { system: null, processor: null }],
    ['of something else', { userAgent: 'curl/8' }, { system: null, processor: null }],
  ])('%s is known as far as the browser tells', (_, signs, machine) => {
    expect(machineOf({ maxTouchPoints: 0, ...signs })).toEqual(machine);
  });
});

describe('the packages', () => {
  const platforms = ['windows-x86_64', 'darwin-x86_64', 'darwin-aarch64'] as const;
  const packages = platforms.map((platform): DesktopPackage => ({
    platform,
    fileName: platform,
    sizeBytes: 1,
    sha256: '',
    signed: true,
    url: '',
  }));
  const namesFor = (machine: Parameters<typeof choosePackages>[1]) => {
    const { own, others } = choosePackages(packages, machine);
    return [own, others].map((list) => list.map(({ platform }) => platform));
  };

  it.each([
    ['one', { system: 'darwin', processor: 'aarch64' }, ['darwin-aarch64']],
    ['both if the processor is not known', { system: 'darwin', processor: null }, ['darwin-x86_64', 'darwin-aarch64']],
    ['none if there is none', { system: 'linux', processor: 'x86_64' }, []],
    ['none for a phone', { system: null, processor: null }, []],
  ] as const)('of this machine: %s', (_, machine, own) => {
    const others = platforms.filter((platform) => !own.some((one) => one === platform));
    expect(namesFor(machine)).toEqual([own, others]);
  });
});
