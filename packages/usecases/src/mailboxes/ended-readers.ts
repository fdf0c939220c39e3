import { ImapFailure } from '@portal/connectors/imap/imap-failure';

/** Why a mailbox rests: data from its server ended the reading process twice in a row. */
export const endedItsReaders = (server: { host: string; port: number }): ImapFailure =>
  new ImapFailure('protocol', server, 'twice sent data that could not be read; it is asked again in an hour.');
