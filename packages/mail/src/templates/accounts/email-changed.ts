import { z } from 'zod';
import { p } from '../../blocks.ts';
import { Language, Sender } from '../../frame.ts';
import { template } from '../../template.ts';

/**
 * To the address that was given up. Holds no link at all, so that a forged copy of this mail is easy to tell, and does not name
 * the new address: the old one may have been somebody else's by mistake.
 */
export const emailChanged = template({
  format: 'text',
  data: Sender.omit({ serviceUrl: true }).extend({
    language: Language.default('de'),
    username: z.string(),
    /** Already in Berlin time and in the mail's language. */
    changedAt: z.string(),
  }),
  wording: {
    de: {
      subject: () => 'Ihre E-Mail-Adresse wurde geändert',
      body: ({ username, tenantName, changedAt }) => [
        p`Guten Tag,`,
        p`die E-Mail-Adresse des Kontos „${username}“ im Portal von ${tenantName} wurde am ${changedAt} geändert. Diese Adresse gehört nicht mehr dazu.`,
        p`Haben Sie das veranlasst oder wissen Sie davon, ist nichts weiter zu tun.`,
        p`Sonst wenden Sie sich bitte gleich an Ihre Administration. Diese E-Mail enthält aus Sicherheitsgründen keinen Link.`,
      ],
    },
    en: {
      subject: () => 'Your e-mail address was changed',
      body: ({ username, tenantName, changedAt }) => [
        p`Hello,`,
        p`The e-mail address of the account “${username}” in the portal of ${tenantName} was changed on ${changedAt}. This address no longer belongs to it.`,
        p`If you did this or know of it, there is nothing else to do.`,
        p`If not, please contact your administrators right away. For your safety this e-mail contains no link.`,
      ],
    },
  },
});
