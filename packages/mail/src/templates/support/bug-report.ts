import { z } from 'zod';
import { isMailable } from '@portal/domain/mail-address';
import { p, prose, rows } from '../../blocks.ts';
import { Sender } from '../../frame.ts';
import { template } from '../../template.ts';

/** Longest word of the tag before the title, in characters, so that the title stays visible. */
const maxTagWord = 40;

export const bugReport = template({
  format: 'text',
  data: Sender.extend({
    title: z.string(),
    description: z.string(),
    /** The reporter's app, one word each: Desktop, 1.4.2, windows. */
    origin: z.array(z.string()),
    /** Processor architecture, if the app reports it. */
    architecture: z.string().nullable(),
    userAgent: z.string().nullable(),
    displayName: z.string(),
    username: z.string(),
    address: z.string().nullable(),
    release: z.string(),
    /** Already in Berlin time. */
    reportedAt: z.string(),
  }),
  // Without a valid address, the recipient has to reach the reporter by other means.
  replyTo: ({ address }) => (address !== null && isMailable(address) ? address : null),
  wording: {
    de: {
      subject: ({ origin, title }) =>
        `[${origin.map((word) => [...word].slice(0, maxTagWord).join('')).join(' ')}] ${title}`,
      body: ({ title, description, origin, architecture, userAgent, displayName, username, address, ...about }) => [
        p`${displayName} hat einen Fehler gemeldet. Das Bildschirmfoto ist angehängt.`,
        p`Herkunft: ${[...origin, architecture ?? ''].join(' ')}`,
        rows({
          Titel: title,
          'Gemeldet von': `${displayName} (${username})`,
          'E-Mail': address ?? '',
          Organisation: about.tenantName,
          'Portal-Version': about.release,
          Zeitpunkt: about.reportedAt,
          Browserkennung: userAgent ?? '',
        }),
        ...(description.trim() === '' ? [] : [p`Beschreibung:`, ...prose(description)]),
      ],
    },
  },
});
