import { expect, it } from 'vitest';
import type { CloudInstance } from '@portal/client/interface';
import { reasonsOf } from './cloud-reasons.ts';

const instance: CloudInstance = {
  id: '0198d3d1-5a6b-7c7d-8e8f-9a0b1c2d3e4f',
  customerName: 'Stadtwerke Nordheim',
  statusUrl: 'https://cloud.example.org',
  hasLogo: false,
  isActive: true,
  light: 'green',
  versionAssessment: 'current',
  version: '34.0.4',
  productName: null,
  latestVersion: '34.0.4',
  supportEndsAt: null,
  isMaintenance: false,
  needsDbUpgrade: false,
  lastCheckState: 'ok',
  reportedState: 'ok',
  consecutiveFailures: 0,
  failure: null,
  message: null,
  checkedAt: '2026-11-20T08:30:00.000Z',
  lastOkAt: '2026-11-20T08:30:00.000Z',
  subscribed: false,
};

it.each([
  [{}, ['current']],
  [{ versionAssessment: 'unknown' }, ['reachable']],
  [{ versionAssessment: 'major-available' }, ['major']],
  [{ versionAssessment: 'patch-available', light: 'yellow' }, ['patch']],
  [{ isMaintenance: true, versionAssessment: 'support-ending', light: 'yellow' }, ['maintenance', 'supportEnding']],
  [{ lastCheckState: 'failed', light: 'yellow' }, ['failedOnce']],
  [{ lastCheckState: 'failed', reportedState: 'failed', light: 'red' }, ['failed']],
  [
    { reportedState: 'failed', lastCheckState: 'failed', versionAssessment: 'end-of-life', light: 'red' },
    ['failed', 'endOfLife'],
  ],
  [{ needsDbUpgrade: true, light: 'yellow' }, ['upgrade']],
  [{ isActive: false, reportedState: 'failed', light: 'grey' }, ['off']],
  [{ checkedAt: null, lastCheckState: null, light: 'grey' }, ['unchecked']],
] satisfies [Partial<CloudInstance>, string[]][])('explains %j', (change, reasons) => {
  expect(reasonsOf({ ...instance, ...change })).toEqual(reasons);
});
