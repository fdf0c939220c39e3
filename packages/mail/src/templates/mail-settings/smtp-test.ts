import { z } from 'zod';
import { p, rows } from '../../blocks.ts';
import { Sender } from '../../frame.ts';
import { template } from '../../template.ts';

const encryption = { none: 'keine', starttls: 'STARTTLS', tls: 'TLS' };

export const smtpTest = template({
  format: 'html-and-text',
  data: Sender.extend({
    host: z.string(),
    port: z.int(),
    security: z.enum(['none', 'starttls', 'tls']),
    fromAddress: z.string(),
    /** Already in Berlin time. */
    sentAt: z.string(),
  }),
  wording: {
    de: {
      subject: ({ tenantName }) => `Test der Mail-Einstellungen von ${tenantName}`,
      preview: () => 'Der Versand funktioniert.',
      heading: () => 'Der Versand funktioniert',
      body: ({ tenantName, host, port, security, fromAddress, sentAt }) => [
        p`Diese Testnachricht hat Sie über den Mailserver von ${tenantName} erreicht. Die Einstellungen stimmen, es ist nichts weiter zu tun.`,
        rows({
          Server: `${host}:${port}`,
          Verschlüsselung: encryption[security],
          Absender: fromAddress,
          Verschickt: sentAt,
        }),
      ],
    },
  },
});
