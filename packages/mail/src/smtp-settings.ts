import type { Socket } from 'node:net';

/** Opens a connection to a mail server; throws the signal's reason, or the error of look-up or socket. */
export type Dial = (host: string, port: number, signal: AbortSignal) => Promise<Socket>;

/** How a tenant's mail is sent. */
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
  /** Whoever sets the server decides how far it may be away: names become addresses here, and addresses are checked. */
  dial: Dial;
}
