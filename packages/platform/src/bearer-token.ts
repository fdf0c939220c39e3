import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** Whether a request carries this bearer token; compares in constant time. */
export const carriesToken = ({ authorization = '' }: IncomingHttpHeaders, token: string): boolean =>
  timingSafeEqual(digest(authorization), digest(`Bearer ${token}`));

// Digests have equal length, so the comparison does not reveal the token's length.
const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
