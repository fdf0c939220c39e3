import { builtInWelcomeMail, sampleWelcomePerson, welcomeMailValues } from '@portal/domain/mail-settings/welcome-mail';
import type { WelcomeMailTemplate } from '@portal/domain/mail-settings/welcome-mail';
import { mailTime } from '@portal/mail/mail-time';
import { renderMail } from '@portal/mail/render';
import type { MailData, MailKind } from '@portal/mail/render';
import type { RenderedMail } from '@portal/mail/template';

/** One mail to look at: a kind with a language, variant or awkward data. */
export interface SampleMail {
  kind: MailKind;
  variant: string;
  mail: RenderedMail;
}

const sample = <Kind extends MailKind>(kind: Kind, variant: string, data: MailData<Kind>): SampleMail => ({
  kind,
  variant,
  mail: renderMail(kind, data),
});

const serviceUrl = 'https://portal.example.com';
const sender = { tenantName: 'Muster Maschinenbau GmbH', serviceUrl };
const link = `${serviceUrl}/reset-password#token=Q2hlY2sgdGhlIGxlbmd0aCBvZiB0aGlzIHRva2Vu-x0_9dGhlbg`;
const weekLater = new Date('2026-11-28T08:44:00Z');
const person = { displayName: 'Erika Beispiel', username: 'erika.beispiel' };

// Everything that has ever broken a mail: markup, quotes, direction marks, one endless word, line breaks.
const awkward = {
  displayName: `<b onclick="x">“Dr.” O'Brien & Söhne</b> محمد \u202Eevil\u202C 🦊\nBcc: x@example.com ${'Donaudampfschifffahrtsgesellschaft'.repeat(6)}`,
  username: `${'lang'.repeat(31)}@ad`,
};

const values = (firma = sender.tenantName) => welcomeMailValues(sampleWelcomePerson, { adresse: serviceUrl, firma });

const ownTemplate: WelcomeMailTemplate = {
  subject: '{{vorname}}, schön, dass Sie da sind',
  heading: 'Herzlich willkommen im Team von {{firma}}',
  intro:
    'Liebe Kollegin, lieber Kollege,\n\nab heute erreichen Sie alles Wichtige an einer Stelle:\n' +
    '– Ihr Dashboard mit Erinnerungen und Favoriten\n– den Stand unserer Server & Cloud-Dienste\n' +
    '– <b>Ausschreibungen</b>, die zu uns passen',
  closing: 'Fragen? Rufen Sie an: Durchwahl 4711 oder it@muster.example.\n\nIhre IT-Abteilung',
  loginHintDirectory: 'Sie melden sich an wie an Ihrem Windows-Rechner: {{benutzername}} und Ihr Windows-Passwort.',
  loginHintLocal: null,
};

/** Every kind in every language and variant, with ordinary and with awkward data. */
export const sampleMails = (): SampleMail[] => [
  ...(['de', 'en'] as const).flatMap((language) => {
    const reset = { ...sender, language, link, validUntil: mailTime(weekLater, language) };
    const at = mailTime(new Date('2026-07-03T15:05:00Z'), language);
    const changed = { tenantName: sender.tenantName, language, changedAt: at };
    const requested = { tenantName: sender.tenantName, language, requestedAt: at };
    const confirm = { ...reset, link: link.replace('reset-password', 'confirm-email') };
    return [
      sample('accounts/password-reset', language, { ...reset, ...person }),
      sample('accounts/password-reset', `${language}-awkward`, { ...reset, ...awkward }),
      sample('accounts/password-changed', language, { ...changed, ...person }),
      sample('accounts/password-changed', `${language}-awkward`, { ...changed, ...awkward }),
      sample('accounts/confirm-email', language, { ...confirm, ...person }),
      sample('accounts/confirm-email', `${language}-awkward`, { ...confirm, ...awkward }),
      sample('accounts/email-change-requested', language, { ...requested, ...person }),
      sample('accounts/email-change-requested', `${language}-awkward`, { ...requested, ...awkward }),
      sample('accounts/email-changed', language, { ...changed, ...person }),
      sample('accounts/email-changed', `${language}-awkward`, { ...changed, ...awkward }),
      sample('accounts/email-taken', language, { ...requested, ...person }),
      sample('accounts/email-taken', `${language}-awkward`, { ...requested, ...awkward }),
    ];
  }),
  sample('accounts/welcome', 'local', {
    ...sender,
    template: builtInWelcomeMail,
    values: values(),
    invitation: { kind: 'set-password', link, validUntil: mailTime(weekLater) },
  }),
  sample('accounts/welcome', 'directory', {
    ...sender,
    template: builtInWelcomeMail,
    values: values(),
    invitation: { kind: 'sign-in', link: serviceUrl },
  }),
  sample('accounts/welcome', 'own-template', {
    ...sender,
    template: ownTemplate,
    values: values(),
    invitation: { kind: 'sign-in', link: serviceUrl },
  }),
  sample('accounts/welcome', 'test', {
    ...sender,
    template: builtInWelcomeMail,
    values: values(),
    invitation: { kind: 'test', link: serviceUrl, source: 'local' },
  }),
  sample('accounts/welcome', 'awkward', {
    tenantName: awkward.displayName,
    serviceUrl,
    template: ownTemplate,
    values: {
      ...values(awkward.displayName),
      name: awkward.displayName,
      vorname: awkward.displayName,
      benutzername: awkward.username,
    },
    invitation: { kind: 'set-password', link, validUntil: mailTime(weekLater) },
  }),
  sample('mail-settings/smtp-test', 'starttls', {
    ...sender,
    host: 'mail.muster.example',
    port: 587,
    security: 'starttls',
    fromAddress: 'portal@muster.example',
    sentAt: mailTime(new Date('2026-11-21T09:12:00Z')),
  }),
  sample('mail-settings/smtp-test', 'unencrypted', {
    ...sender,
    host: '10.0.0.25',
    port: 25,
    security: 'none',
    fromAddress: 'portal@muster.example',
    sentAt: mailTime(new Date('2026-11-21T09:12:00Z')),
  }),
  sample('reminders/due', 'plain', {
    ...sender,
    displayName: person.displayName,
    title: 'Angebot an die Stadtwerke schicken',
    note: null,
    dueAt: mailTime(new Date('2026-07-03T15:05:00Z')),
  }),
  sample('reminders/due', 'awkward', {
    ...sender,
    displayName: awkward.displayName,
    title: awkward.displayName,
    note: 'Vorher mit Anna abstimmen:\n– <b>Preis</b>\n– Laufzeit\n\n\nUnterlagen: https://portal.example.com/?a=1&b=2',
    dueAt: mailTime(new Date('2026-10-25T00:30:00Z')),
  }),
];
