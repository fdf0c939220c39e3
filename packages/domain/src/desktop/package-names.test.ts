import { describe, expect, it } from 'vitest';
import { choosePackages } from './package-names.ts';

const choose = (names: string[], version = '1.4.2') => {
  const signed = new Set(names.filter((name) => name.endsWith('.sig')).map((name) => name.slice(0, -4)));
  const files = names.filter((name) => !name.endsWith('.sig')).map((name) => ({ name, isSigned: signed.has(name) }));
  const { packages, undecided, leftOut } = choosePackages(files, version);
  return {
    packages: Object.fromEntries(packages.map(({ platform, name }) => [platform, name])),
    undecided: undecided.map(({ platform }) => platform),
    leftOut,
  };
};

describe('a file’s name', () => {
  it.each([
    ['Portal_1.4.2_x64-setup.exe', 'windows-x86_64'],
    ['Portal_1.4.2_arm64-setup.exe', 'windows-aarch64'],
    ['Portal_1.4.2_x64_de-DE.msi', 'windows-x86_64'],
    ['Portal_x64.app.tar.gz', 'darwin-x86_64'],
    ['Portal_aarch64.app.tar.gz', 'darwin-aarch64'],
    ['Portal_1.4.2_aarch64.dmg', 'darwin-aarch64'],
    ['Portal_1.4.2_amd64.AppImage', 'linux-x86_64'],
    ['Portal_1.4.2_aarch64.AppImage', 'linux-aarch64'],
    ['portal_1.4.2_arm64.deb', 'linux-aarch64'],
    ['portal-1.4.2-1.x86_64.rpm', 'linux-x86_64'],
  ])('%s is a package for %s', (name, platform) => {
    expect(choose([name])).toEqual({ packages: { [platform]: name }, undecided: [], leftOut: [] });
  });

  it.each([
    'Portal.app.tar.gz',
    'Portal_1.4.2_i686.msi',
    'Portal_box64ed.exe',
    'notes.txt',
    'x64',
    'Portal_1.4.1_x64-setup.exe',
    'Portal_11.4.2_x64-setup.exe',
    'Portal_1.4.20_x64-setup.exe',
  ])('%s is not a package of 1.4.2', (name) => {
    expect(choose([name])).toEqual({ packages: {}, undecided: [], leftOut: [name] });
  });
});

describe('several packages for a platform', () => {
  it('the signed one wins, then the kind an app can update itself from', () => {
    const names = ['P_1.4.2_aarch64.dmg', 'P_aarch64.app.tar.gz', 'P_aarch64.app.tar.gz.sig'];
    expect(choose(names).packages).toEqual({ 'darwin-aarch64': 'P_1.4.2_aarch64.dmg' });
    expect(choose(names.map((name) => name.replace('1.4.2_', ''))).packages).toEqual({
      'darwin-aarch64': 'P_aarch64.app.tar.gz',
    });
    expect(choose(['p_1.4.2_amd64.deb', 'P_1.4.2_amd64.AppImage']).packages).toEqual({
      'linux-x86_64': 'P_1.4.2_amd64.AppImage',
    });
  });

  it('the one with the full version wins', () => {
    const names = ['P_1.5.0_x64-setup.exe', 'P_1.5.0-beta.1_x64-setup.exe', 'P_1.4.2_x64-setup.exe'];
    expect(choose(names, '1.5.0-beta.1').packages).toEqual({ 'windows-x86_64': 'P_1.5.0-beta.1_x64-setup.exe' });
    expect(choose(names, '1.5.0')).toMatchObject({ packages: {}, undecided: ['windows-x86_64'] });
  });
});
