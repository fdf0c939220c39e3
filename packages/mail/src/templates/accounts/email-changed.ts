import { z } from 'zod';
import { p } from '../../blocks.ts';
import { Language, Sender } from '../../frame.ts';
import { template } from '../../template.ts';

/**
 * Goes to the old address. Contains no link, so that readers can recognize a forgery. Does not name the new address, because the old
 * one may have belonged to another person by mistake.
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
        p`die E-Mail-Adresse des Kontos „${username}“ im Portal von ${tenantName} wurde am ${changedAt} geändert. Die Adresse, an die Sie diese Nachricht erhalten, gehört nicht mehr zu dem Konto.`,
        p`Wenn Sie das veranlasst haben oder davon wissen, müssen Sie nichts weiter tun.`,
        p`Andernfalls wenden Sie sich bitte sofort an Ihre Administration. Diese E-Mail enthält aus Sicherheitsgründen keinen Link.`,
      ],
    },
    en: {
      subject: () => 'Your e-mail address was changed',
      body: ({ username, tenantName, changedAt }) => [
        p`Hello,`,
        p`The e-mail address of the account “${username}” in the portal of ${tenantName} was changed on ${changedAt}. The address that received this message no longer belongs to the account.`,
        p`If you did this or know about it, there is nothing else to do.`,
        p`If not, please contact your administrators right away. For your safety this e-mail contains no link.`,
      ],
    },
  },
});
