import { z } from 'zod';
import { FailureClass } from '../failure-class.ts';
import { Id } from '../ids.ts';
import { requiredLine } from '../text.ts';
import { Instant } from '../time.ts';
import { StatusAddress } from './address.ts';
import { CheckState, TrafficLight } from './checks.ts';
import { VersionAssessment } from './releases.ts';

/** Cloud instances a tenant may have. */
export const maxCloudInstances = 10_000;

export const logoMaxBytes = 1024 * 1024;

const input = { customerName: 'Stadtwerke Nordheim', statusUrl: 'https://cloud.example.org' };

export const NewCloudInstance = z
  .object({
    customerName: requiredLine(),
    statusUrl: StatusAddress,
    isActive: z.boolean().default(true).describe('Whether the instance is checked automatically'),
  })
  .meta({ example: { ...input, isActive: true } });
export type NewCloudInstance = z.output<typeof NewCloudInstance>;

/** A PATCH changes the fields it names. No field can be null. */
export const CloudInstanceChange = z
  .object({
    customerName: requiredLine().optional(),
    statusUrl: StatusAddress.optional(),
    isActive: z.boolean().optional(),
  })
  .meta({ example: input });
export type CloudInstanceChange = z.output<typeof CloudInstanceChange>;

const instance = {
  id: '0198d3d1-5a6b-7c7d-8e8f-9a0b1c2d3e4f',
  ...input,
  hasLogo: false,
  isActive: true,
  light: 'yellow',
  versionAssessment: 'patch-available',
  version: '34.0.2',
  productName: 'Nordheim Cloud',
  latestVersion: '34.0.4',
  supportEndsAt: '2027-06-09T00:00:00.000Z',
  isMaintenance: false,
  needsDbUpgrade: false,
  lastCheckState: 'ok',
  reportedState: 'ok',
  consecutiveFailures: 0,
  failure: null,
  message: null,
  checkedAt: '2026-11-20T08:30:00.000Z',
  lastOkAt: '2026-11-20T08:30:00.000Z',
  subscribed: true,
};

export const CloudInstance = z
  .object({
    id: Id,
    customerName: z.string(),
    statusUrl: z.string().describe('As it was entered'),
    hasLogo: z.boolean(),
    isActive: z.boolean(),
    light: TrafficLight,
    versionAssessment: VersionAssessment,
    version: z.string().nullable().describe('Null if unknown or hidden'),
    productName: z.string().nullable().describe('Product name that the cloud reports'),
    latestVersion: z.string().nullable().describe('The latest release of the same major version'),
    supportEndsAt: Instant.nullable().describe('The last day of support; null if unknown or with extended support'),
    isMaintenance: z.boolean(),
    needsDbUpgrade: z.boolean(),
    lastCheckState: CheckState.nullable().describe('Null until the first check'),
    reportedState: CheckState.describe('`failed` after two failed checks in a row, `ok` again after a successful one'),
    consecutiveFailures: z.int(),
    failure: FailureClass.nullable(),
    message: z.string().nullable().describe('Why the last check failed, or a remark about its result'),
    checkedAt: Instant.nullable(),
    lastOkAt: Instant.nullable(),
    subscribed: z.boolean().describe('Whether the caller gets mails about failures'),
  })
  .meta({
    id: 'CloudInstance',
    example: instance,
  });
export type CloudInstance = z.output<typeof CloudInstance>;

/** The most clouds that an overview lists. */
export const maxOverviewClouds = 100;

export const CloudOverview = z
  .object({
    counts: z
      .object({ red: z.int(), yellow: z.int(), grey: z.int(), green: z.int() })
      .describe('How many instances have each light'),
    subscribed: z.int().describe('How many instances the caller gets mails about'),
    instances: z.array(CloudInstance).describe('The worst first, then by name'),
  })
  .meta({
    id: 'CloudOverview',
    example: { counts: { red: 0, yellow: 1, grey: 2, green: 40 }, subscribed: 1, instances: [instance] },
  });
export type CloudOverview = z.output<typeof CloudOverview>;

export const CloudTransition = z
  .object({
    at: Instant,
    instanceId: Id,
    customerName: z.string(),
    from: CheckState,
    to: CheckState,
    reason: z.string(),
  })
  .meta({
    id: 'CloudTransition',
    example: {
      at: '2026-11-20T08:36:00.000Z',
      instanceId: '0198d3d1-5a6b-7c7d-8e8f-9a0b1c2d3e4f',
      customerName: input.customerName,
      from: 'ok',
      to: 'failed',
      reason: 'cloud.example.org did not answer in time.',
    },
  });
export type CloudTransition = z.output<typeof CloudTransition>;
