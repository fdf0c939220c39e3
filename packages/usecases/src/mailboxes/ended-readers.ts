import { ImapFailure } from '@portal/connectors/imap/imap-failure';

/** Why a mailbox rests: what its server sends ended the process that read it, twice in a row. */
export const endedItsReaders = (server: { host: string; port: number }): ImapFailure =>
  new ImapFailure('protocol', server, 'twice sent what could not be read; it is asked again in an hour.');
