import { z } from 'zod';
import { p } from '../../blocks.ts';
import { Language, Sender } from '../../frame.ts';
import { template } from '../../template.ts';

/** Goes to the account that already has the address. Contains no link and does not say who entered the address. */
export const emailTaken = template({
  format: 'text',
  data: Sender.omit({ serviceUrl: true }).extend({
    language: Language.default('de'),
    displayName: z.string(),
    username: z.string(),
    /** Already in Berlin time and in the mail's language. */
    requestedAt: z.string(),
  }),
  wording: {
    de: {
      subject: () => 'Ihre E-Mail-Adresse wurde bei einem anderen Konto eingetragen',
      body: ({ displayName, username, tenantName, requestedAt }) => [
        p`Hallo ${displayName},`,
        p`am ${requestedAt} wurde Ihre E-Mail-Adresse bei einem anderen Konto eingetragen. Sie gehört zu Ihrem Konto „${username}“ im Portal von ${tenantName} und bleibt dort. Es wurde nichts geändert.`,
        p`Wenn Sie selbst ein weiteres Konto haben, wählen Sie dafür bitte eine andere Adresse. Andernfalls müssen Sie nichts tun. Diese E-Mail enthält aus Sicherheitsgründen keinen Link.`,
      ],
    },
    en: {
      subject: () => 'Your e-mail address was entered for another account',
      body: ({ displayName, username, tenantName, requestedAt }) => [
        p`Hello ${displayName},`,
        p`On ${requestedAt} your e-mail address was entered for another account. It belongs to your account “${username}” in the portal of ${tenantName} and stays there: nothing was changed.`,
        p`If you have another account yourself, please choose a different address for it. Otherwise there is nothing to do. For your safety this e-mail contains no link.`,
      ],
    },
  },
});
