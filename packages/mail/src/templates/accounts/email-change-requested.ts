import { z } from 'zod';
import { p } from '../../blocks.ts';
import { Language, Sender } from '../../frame.ts';
import { template } from '../../template.ts';

/** Goes to the current address, which is about to be replaced. Contains no link, so that readers can recognize a forgery. */
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
        p`für Ihr Konto „${username}“ im Portal von ${tenantName} wurde am ${requestedAt} eine andere E-Mail-Adresse eingetragen. Die neue Adresse gilt, sobald sie bestätigt ist. Ohne Bestätigung verfällt die Änderung nach 24 Stunden.`,
        p`Wenn Sie das selbst waren, müssen Sie nichts weiter tun.`,
        p`Wenn Sie es nicht waren, ändern Sie bitte sofort Ihr Passwort: Dadurch verfällt die Änderung. Wenden Sie sich anschließend an Ihre Administration. Diese E-Mail enthält aus Sicherheitsgründen keinen Link.`,
      ],
    },
    en: {
      subject: () => 'A change of your e-mail address was requested',
      body: ({ username, tenantName, requestedAt }) => [
        p`Hello,`,
        p`Another e-mail address was entered for your account “${username}” in the portal of ${tenantName} on ${requestedAt}. The new address takes effect once it is confirmed. Without confirmation the change expires after 24 hours.`,
        p`If this was you, there is nothing else to do.`,
        p`If it was not, please change your password right away: this cancels the change. Then contact your administrators. For your safety this e-mail contains no link.`,
      ],
    },
  },
});
