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
  /** A local account sets its password through a link that is valid for 7 days. */
  z.object({ kind: z.literal('set-password'), link: WebUrl, validUntil: z.string() }),
  /** A directory account already has a password. */
  z.object({ kind: z.literal('sign-in'), link: WebUrl }),
  /** An administrator tests the template: the link leads to the sign-in page, the sign-in hint is that for `source`. */
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
        p`Der Link gilt 7 Tage, bis zum ${invitation.validUntil}, und funktioniert nur einmal.`,
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
