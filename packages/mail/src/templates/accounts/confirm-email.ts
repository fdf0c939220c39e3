import { z } from 'zod';
import { button, p } from '../../blocks.ts';
import { Language, Sender, WebUrl } from '../../frame.ts';
import { template } from '../../template.ts';

/** The address may belong to a stranger, so the mail contains no text that the account could have chosen. */
export const confirmEmail = template({
  format: 'text',
  data: Sender.extend({
    language: Language.default('de'),
    username: z.string(),
    link: WebUrl,
    /** Already in Berlin time and in the mail's language. */
    validUntil: z.string(),
  }),
  wording: {
    de: {
      subject: () => 'E-Mail-Adresse bestätigen',
      body: ({ username, tenantName, link, validUntil }) => [
        p`Guten Tag,`,
        p`diese E-Mail-Adresse wurde für das Konto „${username}“ im Portal von ${tenantName} eingetragen. Bitte bestätigen Sie sie.`,
        button(link, 'Adresse bestätigen'),
        p`Der Link gilt 24 Stunden, bis zum ${validUntil}, und funktioniert nur einmal.`,
        p`Sie kennen dieses Konto nicht? Dann müssen Sie nichts tun: Ohne Bestätigung wird die Adresse nicht verwendet.`,
      ],
    },
    en: {
      subject: () => 'Confirm your e-mail address',
      body: ({ username, tenantName, link, validUntil }) => [
        p`Hello,`,
        p`This e-mail address was entered for the account “${username}” in the portal of ${tenantName}. Please confirm it.`,
        button(link, 'Confirm the address'),
        p`The link is valid for 24 hours, until ${validUntil}, and works once.`,
        p`If you do not know this account, you can ignore this e-mail: without confirmation the address is not used.`,
      ],
    },
  },
});
