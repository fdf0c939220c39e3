import { z } from 'zod';
import {
  fillPlaceholders,
  loginHint,
  WelcomeMailTemplate,
  WelcomeMailValues,
} from '@portal/domain/mail-settings/welcome-mail';
import { button, hint, p, prose, rows } from '../../blocks.ts';
import type { Block } from '../../blocks.ts';
import { Sender, WebUrl } from '../../frame.ts';
import { template } from '../../template.ts';

const Invitation = z.discriminatedUnion('kind', [
  /** A local account chooses its password through a link valid 7 days. */
  z.object({ kind: z.literal('set-password'), link: WebUrl, validUntil: z.string() }),
  /** A directory account has its password already. */
  z.object({ kind: z.literal('sign-in'), link: WebUrl }),
  /** An administrator tries the template: sign-in link only, the hint of the named account kind. */
  z.object({ kind: z.literal('test'), link: WebUrl, source: z.enum(['local', 'directory']) }),
]);
type Invitation = z.infer<typeof Invitation>;

const sourceOf = (invitation: Invitation): 'local' | 'directory' => {
  switch (invitation.kind) {
    case 'set-password':
      return 'local';
    case 'sign-in':
      return 'directory';
    case 'test':
      return invitation.source;
  }
};

const nextStep = (invitation: Invitation): Block[] =>
  invitation.kind === 'set-password'
    ? [
        button(invitation.link, 'Passwort festlegen'),
        p`Der Link gilt 7 Tage, bis zum ${invitation.validUntil}, und nur einmal.`,
      ]
    : [button(invitation.link, 'Zur Anmeldung')];

export const welcome = template({
  format: 'html-and-text',
  data: Sender.extend({
    template: WelcomeMailTemplate,
    values: WelcomeMailValues,
    invitation: Invitation,
  }),
  wording: {
    de: {
      subject: (mail) =>
        (mail.invitation.kind === 'test' ? '[Test] ' : '') + fillPlaceholders(mail.template.subject, mail.values),
      preview: ({ values }) => `Ihr Benutzername: ${values.benutzername}`,
      heading: (mail) => fillPlaceholders(mail.template.heading, mail.values),
      body: ({ template: fields, values, invitation }) => [
        ...(invitation.kind === 'test'
          ? [hint`Dies ist ein Test der Willkommens-Mail. Der Link führt nur zur Anmeldung.`]
          : []),
        ...prose(fillPlaceholders(fields.intro, values)),
        rows({ Benutzername: values.benutzername, Adresse: values.adresse }),
        ...prose(fillPlaceholders(loginHint(fields, sourceOf(invitation)), values)),
        ...nextStep(invitation),
        ...prose(fillPlaceholders(fields.closing, values)),
      ],
    },
  },
});
