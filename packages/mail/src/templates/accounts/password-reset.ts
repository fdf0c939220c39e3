import { z } from 'zod';
import { button, p } from '../../blocks.ts';
import { Language, Sender, WebUrl } from '../../frame.ts';
import { template } from '../../template.ts';

export const passwordReset = template({
  format: 'text',
  data: Sender.extend({
    language: Language.default('de'),
    displayName: z.string(),
    username: z.string(),
    link: WebUrl,
    /** Already in Berlin time and in the mail's language. */
    validUntil: z.string(),
  }),
  wording: {
    de: {
      subject: () => 'Passwort zurücksetzen',
      body: ({ displayName, username, tenantName, link, validUntil }) => [
        p`Hallo ${displayName},`,
        p`für Ihr Konto „${username}“ im Portal von ${tenantName} wurde ein neues Passwort angefordert.`,
        button(link, 'Neues Passwort festlegen'),
        p`Der Link gilt 7 Tage, bis zum ${validUntil}, und funktioniert nur einmal.`,
        p`Sie haben das nicht angefordert? Dann müssen Sie nichts tun: Ihr bisheriges Passwort bleibt gültig.`,
      ],
    },
    en: {
      subject: () => 'Reset your password',
      body: ({ displayName, username, tenantName, link, validUntil }) => [
        p`Hello ${displayName},`,
        p`A new password was requested for your account “${username}” in the portal of ${tenantName}.`,
        button(link, 'Choose a new password'),
        p`The link is valid for 7 days, until ${validUntil}, and works once.`,
        p`If you did not ask for this, you can ignore this e-mail: your current password stays valid.`,
      ],
    },
  },
});
