import { isSameCloud, statusDocumentOf } from '@portal/domain/cloud-status/address';
import { type CloudReading, readStatusAnswer } from '@portal/domain/cloud-status/reading';
import { SECOND } from '@portal/domain/time';
import { failureOfCall } from '../http/call-failure.ts';
import type { AddressPolicy } from '../http/checked-address.ts';
import { guardedFetch, type OutboundPolicy } from '../http/guarded-fetch.ts';
import { OutboundError } from '../http/outbound-error.ts';

/** A status document has about 200 bytes. */
const maxBytes = 64 * 1024;
const timeoutMs = 10 * SECOND;

/** Reads the status of a cloud. An unreachable cloud is a result; throws only the signal's reason. */
export async function readCloud(
  address: string,
  policy: AddressPolicy & Pick<OutboundPolicy, 'trust'>,
  signal: AbortSignal,
): Promise<CloudReading> {
  const asked = statusDocumentOf(address);
  try {
    const { status, body, headers, url } = await guardedFetch(
      asked,
      { ...policy, httpsOnly: false },
      { headers: { accept: 'application/json' }, redirects: isSameCloud, maxBytes, timeoutMs, signal },
    );
    const { location = null } = headers;
    return readStatusAnswer({ status, body: body.toString(), location, asked, url });
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    return { isReached: false, ...failureOfCall(error, asked.host) };
  }
}
