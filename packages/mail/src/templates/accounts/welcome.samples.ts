import { builtInWelcomeMail, sampleWelcomePerson, welcomeMailValues } from '@portal/domain/mail-settings/welcome-mail';
import type { WelcomeMailTemplate } from '@portal/domain/mail-settings/welcome-mail';
import { mailTime } from '../../mail-time.ts';
import { edgeCase, link, samplesOf, sender, serviceUrl, tenantName, weekLater } from '../samples.ts';
import { welcome } from './welcome.ts';

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
const values = (firma: string) => welcomeMailValues(sampleWelcomePerson, { adresse: serviceUrl, firma });
const builtIn = { ...sender, template: builtInWelcomeMail, values: values(tenantName) };
const setPassword = { kind: 'set-password', link, validUntil: mailTime(weekLater) } as const;
const signIn = { kind: 'sign-in', link: serviceUrl } as const;

export const samples = samplesOf(welcome, {
  local: { ...builtIn, invitation: setPassword },
  directory: { ...builtIn, invitation: signIn },
  'own-template': { ...builtIn, template: ownTemplate, invitation: signIn },
  test: { ...builtIn, invitation: { kind: 'test', link: serviceUrl, source: 'local' } },
  edgeCase: {
    tenantName: edgeCase.displayName,
    serviceUrl,
    template: ownTemplate,
    values: {
      ...values(edgeCase.displayName),
      name: edgeCase.displayName,
      vorname: edgeCase.displayName,
      benutzername: edgeCase.username,
    },
    invitation: setPassword,
  },
});
