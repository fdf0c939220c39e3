/** How a tenant's mail leaves the house. */
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
}
