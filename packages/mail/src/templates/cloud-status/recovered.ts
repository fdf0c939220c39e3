import { z } from 'zod';
import { p, rows } from '../../blocks.ts';
import { Sender } from '../../frame.ts';
import { template } from '../../template.ts';
import { inThread } from '../../thread.ts';

export const cloudRecovered = template({
  format: 'html-and-text',
  data: Sender.extend({
    displayName: z.string(),
    thread: z.string(),
    customerName: z.string(),
    address: z.string(),
    /** Already in Berlin time. */
    from: z.string(),
    to: z.string(),
    duration: z.string(),
  }),
  headers: inThread,
  wording: {
    de: {
      subject: ({ customerName }) => `Cloud wieder da: ${customerName}`,
      preview: ({ duration }) => `Die Störung hat ${duration} gedauert.`,
      heading: () => 'Die Cloud ist wieder da',
      body: ({ displayName, customerName, address, from, to, duration }) => [
        p`Hallo ${displayName},`,
        p`die Cloud von ${customerName} antwortet wieder.`,
        rows({ Kunde: customerName, Adresse: address, 'Gestört seit': from, 'Wieder da': to, Dauer: duration }),
      ],
    },
  },
});
