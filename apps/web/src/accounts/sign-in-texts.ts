import { catalogue } from '../language.ts';

export const texts = catalogue({
  de: {
    product: 'Portal',
    username: 'Benutzername',
    password: 'Passwort',
    signIn: 'Anmelden',
    forgot: 'Passwort vergessen?',
    passwordSet: 'Das neue Passwort ist gespeichert. Sie können sich jetzt damit anmelden.',
    language: 'Sprache',
    theme: {
      system: 'Farbschema: wie im System',
      light: 'Farbschema: hell',
      dark: 'Farbschema: dunkel',
    },
    lostTitle: 'Bitte melden Sie sich erneut an',
    lostText: 'Ihre Sitzung ist beendet. Nach der Anmeldung arbeiten Sie hier weiter, Ihre Eingaben bleiben erhalten.',
    lostShort: 'Ihre Sitzung ist beendet.',
    otherAccount: 'Anderes Konto',
  },
  en: {
    product: 'Portal',
    username: 'Username',
    password: 'Password',
    signIn: 'Sign in',
    forgot: 'Forgot your password?',
    passwordSet: 'Your new password is saved. You can sign in with it now.',
    language: 'Language',
    theme: {
      system: 'Theme: same as system',
      light: 'Theme: light',
      dark: 'Theme: dark',
    },
    lostTitle: 'Please sign in again',
    lostText: 'Your session has ended. After signing in you continue right here; nothing you entered is lost.',
    lostShort: 'Your session has ended.',
    otherAccount: 'Other account',
  },
});
