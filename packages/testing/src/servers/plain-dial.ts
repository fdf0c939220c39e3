import { once } from 'node:events';
import { connect } from 'node:net';
import type { Dial } from '@portal/mail/smtp-settings';

/** Connects to the address that the system resolves. */
export const plainDial: Dial = async (host, port, signal) => {
  const socket = connect(port, host);
  await once(socket, 'connect', { signal });
  return socket;
};
