import { z } from 'zod';
import { p, prose, rows } from '../../blocks.ts';
import { Sender } from '../../frame.ts';
import { template } from '../../template.ts';

export const reminderDue = template({
  format: 'text',
  data: Sender.extend({
    displayName: z.string(),
    title: z.string(),
    note: z.string().nullable(),
    /** Already in Berlin time. */
    dueAt: z.string(),
  }),
  wording: {
    de: {
      subject: ({ title }) => `Erinnerung: ${title}`,
      body: ({ displayName, title, note, dueAt }) => [
        p`Hallo ${displayName},`,
        p`Sie wollten erinnert werden:`,
        rows({ Erinnerung: title, Fällig: dueAt }),
        ...prose(note ?? ''),
      ],
    },
  },
});
