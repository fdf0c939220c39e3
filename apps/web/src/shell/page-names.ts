import { catalogue } from '../language.ts';

/** The name of each page: its title, its entry in the navigation and in the palette. */
export const pageNames = catalogue({
  de: {
    signIn: 'Anmelden',
    forgotPassword: 'Passwort vergessen',
    resetPassword: 'Neues Passwort',
    confirmEmail: 'E-Mail-Adresse bestätigen',
    changePassword: 'Passwort ändern',
    dashboard: 'Dashboard',
    reminders: 'Erinnerungen',
    images: 'Meine Bilder',
    me: 'Mein Konto',
    security: 'Sicherheit',
    customModule: 'Eigenes Modul',
    parts: 'Bausteine',
  },
  en: {
    signIn: 'Sign in',
    forgotPassword: 'Forgotten password',
    resetPassword: 'New password',
    confirmEmail: 'Confirm e-mail address',
    changePassword: 'Change password',
    dashboard: 'Dashboard',
    reminders: 'Reminders',
    images: 'My pictures',
    me: 'My account',
    security: 'Security',
    customModule: 'Custom module',
    parts: 'Parts',
  },
});

export type PageName = keyof typeof pageNames.value;
