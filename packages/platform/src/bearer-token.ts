import { createHash, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** Whether a request carries this bearer token; takes the same time whatever it carries. */
export const carriesToken = ({ authorization = '' }: IncomingHttpHeaders, token: string): boolean =>
  timingSafeEqual(digest(authorization), digest(`Bearer ${token}`));

// Digests are of one length, so comparing them tells nothing about the token's.
const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
