import { z } from 'zod';
import { isolated, oneLine } from './safe-text.ts';

export const Language = z.enum(['de', 'en']);
export type Language = z.infer<typeof Language>;

/** An address that mails may link to. */
export const WebUrl = z.url({ protocol: /^https?$/ });

/** The origin of a mail: every template has these data. */
export const Sender = z.object({
  tenantName: z.string(),
  /** Left out if the mail must not contain links. */
  serviceUrl: WebUrl.optional(),
});
export type Sender = z.infer<typeof Sender>;

/** The text around the body of every mail. */
export interface Frame {
  language: Language;
  tenantName: string;
  serviceUrl: string | undefined;
  notice: string;
  buttonHelp: string;
}

const words = {
  de: {
    notice: (tenantName: string) => `Diese E-Mail wurde automatisch vom Portal von ${tenantName} verschickt.`,
    buttonHelp: 'Falls die Schaltfläche nicht funktioniert, öffnen Sie diese Adresse im Browser:',
  },
  en: {
    notice: (tenantName: string) => `This e-mail was sent automatically by the portal of ${tenantName}.`,
    buttonHelp: 'If the button does not work, open this address in your browser:',
  },
} satisfies Record<Language, unknown>;

export const frameFor = (sender: Sender, language: Language): Frame => {
  const tenantName = isolated(oneLine(sender.tenantName));
  const { notice, buttonHelp } = words[language];
  return {
    language,
    tenantName,
    serviceUrl: sender.serviceUrl,
    notice: notice(tenantName),
    buttonHelp,
  };
};
