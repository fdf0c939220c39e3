/** Where an S3-compatible store keeps our files. */
export interface ObjectStoreAddress {
  endpoint: URL;
  region: string;
  bucket: string;
  /** In front of every key: empty, or ending in a slash. */
  prefix: string;
}

const usualRegion = 'us-east-1';
const bucketName = /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
// Plain characters only, so that every store and every signature takes the keys as they are.
const prefixPath = /^(?!.*(?:^|\/)\.{1,2}(?:\/|$))[A-Za-z0-9._-]+(?:\/[A-Za-z0-9._-]+)*$/;
const regionName = /^[A-Za-z0-9-]{1,40}$/;
const form = 's3://bucket/prefix?endpoint=https://host&region=name';

/** Parses `s3://bucket/prefix?endpoint=…&region=…`; a string is what is wrong with it, without its values. */
export function parseObjectStoreAddress(value: string): ObjectStoreAddress | string {
  const url = URL.parse(value);
  if (url?.protocol !== 's3:') return `must be ${form}`;
  if (url.username !== '' || url.password !== '')
    return 'must not hold keys: set S3_ACCESS_KEY_ID and S3_SECRET_ACCESS_KEY';
  if (url.port !== '' || url.hash !== '') return `must have neither port nor fragment: ${form}`;
  if (!bucketName.test(url.hostname))
    return 'must name a bucket of 3 to 63 lower-case letters, digits, dots and hyphens';
  const prefix = url.pathname.replace(/^\//, '').replace(/\/$/, '');
  if (prefix !== '' && (prefix.length > 200 || !prefixPath.test(prefix)))
    return 'must have a prefix of letters, digits, dots, hyphens and underscores between single slashes, at most 200 characters';
  for (const name of url.searchParams.keys()) {
    if (name !== 'endpoint' && name !== 'region')
      return 'has an unknown parameter: only endpoint and region are known, and an & inside their values is written %26';
    if (url.searchParams.getAll(name).length > 1) return `names ${name} twice`;
  }
  const endpoint = URL.parse(url.searchParams.get('endpoint') ?? '');
  if (!endpoint) return 'must name the address of the store: endpoint=https://host';
  const isPlain =
    endpoint.username === '' && endpoint.password === '' && endpoint.search === '' && endpoint.hash === '';
  if (!['http:', 'https:'].includes(endpoint.protocol) || !isPlain)
    return 'must have an endpoint with http or https and without keys, query or fragment';
  const region = url.searchParams.get('region') ?? usualRegion;
  if (!regionName.test(region)) return 'must have a region of letters, digits and hyphens, such as eu-central-1';
  return { endpoint, region, bucket: url.hostname, prefix: prefix === '' ? '' : `${prefix}/` };
}
