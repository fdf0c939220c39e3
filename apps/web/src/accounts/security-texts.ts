import { catalogue } from '../language.ts';

export const texts = catalogue({
  de: {
    passwordTitle: 'Passwort',
    sessionsTitle: 'Sitzungen',
    sessionsIntro:
      'Die Geräte, auf denen Sie angemeldet sind. Kennen Sie eines nicht, beenden Sie seine Sitzung und ändern Sie Ihr Passwort.',
    sessionsIntroDirectory:
      'Die Geräte, auf denen Sie angemeldet sind. Kennen Sie eines nicht, beenden Sie seine Sitzung.',
    device: 'Gerät',
    deviceName: (program: string | null, system: string | null) =>
      program && system ? `${program} auf ${system}` : (program ?? system ?? 'Unbekanntes Gerät'),
    address: 'IP-Adresse',
    unknownAddress: 'unbekannt',
    signedIn: 'Angemeldet',
    lastSeen: 'Zuletzt aktiv',
    session: 'Sitzung',
    current: 'Diese Sitzung',
    end: 'Beenden',
    endNamed: (device: string) => `Sitzung beenden: ${device}`,
    ended: (device: string) => `Sitzung beendet: ${device}`,
    notEnded: (device: string) => `Diese Sitzung ließ sich nicht beenden: ${device}`,
    noSessions: 'Keine Sitzungen',
    endAll: 'Überall abmelden',
    endAllTitle: 'Überall abmelden?',
    endAllText: 'Alle Ihre Sitzungen werden beendet, auch diese. Danach melden Sie sich auf jedem Gerät neu an.',
  },
  en: {
    passwordTitle: 'Password',
    sessionsTitle: 'Sessions',
    sessionsIntro:
      'The devices you are signed in on. If you do not know one, end its session and change your password.',
    sessionsIntroDirectory: 'The devices you are signed in on. If you do not know one, end its session.',
    device: 'Device',
    deviceName: (program: string | null, system: string | null) =>
      program && system ? `${program} on ${system}` : (program ?? system ?? 'Unknown device'),
    address: 'IP address',
    unknownAddress: 'unknown',
    signedIn: 'Signed in',
    lastSeen: 'Last active',
    session: 'Session',
    current: 'This session',
    end: 'End',
    endNamed: (device: string) => `End session: ${device}`,
    ended: (device: string) => `Session ended: ${device}`,
    notEnded: (device: string) => `This session could not be ended: ${device}`,
    noSessions: 'No sessions',
    endAll: 'Sign out everywhere',
    endAllTitle: 'Sign out everywhere?',
    endAllText: 'All of your sessions end, this one too. After that, you sign in again on each device.',
  },
});
