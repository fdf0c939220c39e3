import { once } from 'node:events';
import { connect } from 'node:net';
import type { Dial } from '@portal/mail/smtp-settings';

/** A connection to wherever the system's look-up leads. */
export const plainDial: Dial = async (host, port, signal) => {
  const socket = connect(port, host);
  await once(socket, 'connect', { signal });
  return socket;
};
