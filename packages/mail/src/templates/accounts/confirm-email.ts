import { z } from 'zod';
import { button, p } from '../../blocks.ts';
import { Language, Sender, WebUrl } from '../../frame.ts';
import { template } from '../../template.ts';

/** Goes to an address that may be a stranger's: it says nothing that the account could have chosen itself. */
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
        p`diese Adresse soll die E-Mail-Adresse des Kontos „${username}“ im Portal von ${tenantName} werden.`,
        button(link, 'Adresse bestätigen'),
        p`Der Link gilt 24 Stunden, bis zum ${validUntil}, und nur einmal.`,
        p`Sie kennen dieses Konto nicht? Dann brauchen Sie nichts zu tun: Ohne Bestätigung wird die Adresse nicht verwendet.`,
      ],
    },
    en: {
      subject: () => 'Confirm your e-mail address',
      body: ({ username, tenantName, link, validUntil }) => [
        p`Hello,`,
        p`This address is to become the e-mail address of the account “${username}” in the portal of ${tenantName}.`,
        button(link, 'Confirm the address'),
        p`The link is valid for 24 hours, until ${validUntil}, and works once.`,
        p`You do not know this account? Then there is nothing to do: unless confirmed, the address is not used.`,
      ],
    },
  },
});
