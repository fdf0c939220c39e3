import { expect, it } from 'vitest';
import { parseObjectStoreAddress } from './object-store-address.ts';

it.each([
  ['s3://files?endpoint=https://s3.example.org', 'https://s3.example.org/', 'us-east-1', 'files', ''],
  [
    's3://my-files.2/portal/eu/?endpoint=https://s3.example.org&region=eu-central-1',
    'https://s3.example.org/',
    'eu-central-1',
    'my-files.2',
    'portal/eu/',
  ],
  [
    's3://files/a?region=x-1&endpoint=http%3A%2F%2F%5B%3A%3A1%5D%3A9000%2Fs3',
    'http://[::1]:9000/s3',
    'x-1',
    'files',
    'a/',
  ],
])('reads %s', (value, endpoint, region, bucket, prefix) => {
  expect(parseObjectStoreAddress(value)).toEqual({ endpoint: new URL(endpoint), region, bucket, prefix });
});

const endpoint = 'endpoint=https://s3.example.org';
it.each([
  ['files', 'must be s3://bucket/prefix?endpoint='],
  ['https://s3.example.org/files', 'must be s3://bucket/prefix?endpoint='],
  [`s3://AKID:hunter2@files?${endpoint}`, 'must not hold keys: set S3_ACCESS_KEY_ID'],
  [`s3://files:9000?${endpoint}`, 'must have neither port nor fragment'],
  [`s3://files?${endpoint}#x`, 'must have neither port nor fragment'],
  [`s3://?${endpoint}`, 'must name a bucket'],
  [`s3://Files?${endpoint}`, 'must name a bucket'],
  [`s3://files/a//b?${endpoint}`, 'must have a prefix'],
  [`s3://files/a%20b?${endpoint}`, 'must have a prefix'],
  [`s3://files/${'a'.repeat(201)}?${endpoint}`, 'must have a prefix'],
  ['s3://files', 'must name the address of the store'],
  ['s3://files?endpoint=s3.example.org', 'must name the address of the store'],
  ['s3://files?endpoint=ftp://s3.example.org', 'must have an endpoint with http or https'],
  [
    's3://files?endpoint=https://AKID:hunter2@s3.example.org',
    'must have an endpoint with http or https and without keys',
  ],
  [`s3://files?${endpoint}&Region=eu`, 'has an unknown parameter'],
  [`s3://files?${endpoint}&access-key=hunter2`, 'has an unknown parameter'],
  [`s3://files?${endpoint}&${endpoint}`, 'names endpoint twice'],
  [`s3://files?${endpoint}&region=eu central`, 'must have a region'],
  [`s3://files?${endpoint}&region=`, 'must have a region'],
])('refuses %s in plain words, without its keys', (value, problem) => {
  const parsed = parseObjectStoreAddress(value);
  expect(parsed).toContain(problem);
  expect(parsed).not.toContain('hunter2');
});
