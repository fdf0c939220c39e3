import { z } from 'zod';
import { p } from '../../blocks.ts';
import { Language, Sender } from '../../frame.ts';
import { template } from '../../template.ts';

/** Contains no link, so that readers can recognize a forgery. */
export const passwordChanged = template({
  format: 'text',
  data: Sender.omit({ serviceUrl: true }).extend({
    language: Language.default('de'),
    displayName: z.string(),
    username: z.string(),
    /** Already in Berlin time and in the mail's language. */
    changedAt: z.string(),
  }),
  wording: {
    de: {
      subject: () => 'Ihr Passwort wurde geändert',
      body: ({ displayName, username, tenantName, changedAt }) => [
        p`Hallo ${displayName},`,
        p`das Passwort Ihres Kontos „${username}“ im Portal von ${tenantName} wurde am ${changedAt} geändert.`,
        p`Wenn Sie das selbst waren, müssen Sie nichts weiter tun.`,
        p`Wenn Sie es nicht waren, wenden Sie sich bitte sofort an Ihre Administration. Diese E-Mail enthält aus Sicherheitsgründen keinen Link.`,
      ],
    },
    en: {
      subject: () => 'Your password was changed',
      body: ({ displayName, username, tenantName, changedAt }) => [
        p`Hello ${displayName},`,
        p`The password of your account “${username}” in the portal of ${tenantName} was changed on ${changedAt}.`,
        p`If this was you, there is nothing else to do.`,
        p`If it was not, please contact your administrators right away. For your safety this e-mail contains no link.`,
      ],
    },
  },
});
