import { expect, it } from 'vitest';
import { subjectOf } from './rule-subjects.ts';

it.each([
  ['certificate', 'certificate', '', 'days'],
  ['node:pve1:certificate', 'certificate', 'pve1', 'days'],
  ['node:pve1', 'node', 'pve1', null],
  ['node:pve1:memory', 'memory', 'pve1', 'percent'],
  ['host:root', 'root', '', 'percent'],
  ['host', 'node', '', null],
  ['node:pve1:disk:/dev/sda', 'disk', 'pve1 /dev/sda', null],
  ['storage:nas', 'storage', 'nas', 'percent'],
  ['storage:local on pve1', 'storage', 'local on pve1', 'percent'],
  ['datastore:tank', 'storage', 'tank', 'percent'],
  ['datastore:tank:full-in', 'fullIn', 'tank', 'days'],
  ['datastore:tank:maintenance', 'maintenance', 'tank', null],
  ['gc:tank:bad', 'collection', 'tank', null],
  ['groups:tank/office', 'backupAge', 'tank/office', 'hours'],
  ['unbacked', 'unbacked', '', 'count'],
  ['ha:lrm:pve1', 'availability', 'pve1', null],
  ['ha:vm:100', 'availability', 'vm:100', null],
  ['ha:fencing', 'availability', '', null],
  ['queue:deferred', 'queue', '', 'count'],
  ['service:postfix', 'service', 'postfix', null],
  ['something:new', 'other', 'new', null],
])('reads %s', (key, subject, name, unit) => {
  expect(subjectOf(key)).toEqual({ subject, name, unit });
});
