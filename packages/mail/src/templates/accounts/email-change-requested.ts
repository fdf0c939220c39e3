import { z } from 'zod';
import { p } from '../../blocks.ts';
import { Language, Sender } from '../../frame.ts';
import { template } from '../../template.ts';

/** To the address that is to be given up. Holds no link at all, so that a forged copy of this mail is easy to tell. */
export const emailChangeRequested = template({
  format: 'text',
  data: Sender.omit({ serviceUrl: true }).extend({
    language: Language.default('de'),
    username: z.string(),
    /** Already in Berlin time and in the mail's language. */
    requestedAt: z.string(),
  }),
  wording: {
    de: {
      subject: () => 'Ihre E-Mail-Adresse soll geändert werden',
      body: ({ username, tenantName, requestedAt }) => [
        p`Guten Tag,`,
        p`für Ihr Konto „${username}“ im Portal von ${tenantName} wurde am ${requestedAt} eine andere E-Mail-Adresse eingetragen. Sie gilt, sobald sie bestätigt ist, sonst verfällt die Änderung nach 24 Stunden.`,
        p`Waren Sie das selbst, ist hier nichts weiter zu tun.`,
        p`Waren Sie es nicht, ändern Sie bitte gleich Ihr Passwort: Damit verfällt die Änderung. Wenden Sie sich dann an Ihre Administration. Diese E-Mail enthält aus Sicherheitsgründen keinen Link.`,
      ],
    },
    en: {
      subject: () => 'Your e-mail address is to be changed',
      body: ({ username, tenantName, requestedAt }) => [
        p`Hello,`,
        p`Another e-mail address was entered for your account “${username}” in the portal of ${tenantName} on ${requestedAt}. It counts as soon as it is confirmed; otherwise the change lapses after 24 hours.`,
        p`If this was you, there is nothing else to do here.`,
        p`If it was not, please change your password right away: that ends the change. Then contact your administrators. For your safety this e-mail contains no link.`,
      ],
    },
  },
});
