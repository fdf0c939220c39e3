import type { Socket } from 'node:net';

/** Opens a connection to a mail server; throws the signal's reason, or the error of the lookup or socket. */
export type Dial = (host: string, port: number, signal: AbortSignal) => Promise<Socket>;

/** The mail server, the account there, and the sender. */
export interface SmtpSettings {
  host: string;
  port: number;
  /** `starttls` and `tls` never fall back to an unencrypted connection, `none` never encrypts. */
  security: 'none' | 'starttls' | 'tls';
  username?: string | null;
  password?: string | null;
  fromAddress: string;
  fromName?: string | null;
  replyTo?: string | null;
  verifyTls: boolean;
  /** Resolves names and checks addresses: whether private addresses are allowed depends on who configured the server. */
  dial: Dial;
}
