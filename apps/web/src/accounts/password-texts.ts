import { catalogue } from '../language.ts';

export const texts = catalogue({
  de: {
    toSignIn: 'Zur Anmeldung',
    forgotIntro: 'Sie erhalten eine E-Mail mit einem Link, über den Sie ein neues Passwort festlegen.',
    identifier: 'Benutzername oder E-Mail-Adresse',
    requestLink: 'Link anfordern',
    requested:
      'Wenn zu dieser Angabe ein Konto mit E-Mail-Adresse gehört, ist die E-Mail unterwegs. Der Link darin gilt 7 Tage.',
    requestedHint:
      'Keine E-Mail bekommen? Sehen Sie im Spam-Ordner nach. Wer sich mit dem Passwort des Unternehmens anmeldet, ändert es nicht hier, sondern über die eigene IT.',
    requestAgain: 'Andere Angabe versuchen',
    newPassword: 'Neues Passwort',
    currentPassword: 'Aktuelles Passwort',
    rules: '10 bis 128 Zeichen. Nicht erlaubt: Benutzername, E-Mail-Adresse und verbreitete Passwörter.',
    strength: {
      tooShort: 'Zu kurz',
      fair: 'Ausreichend. Länger ist sicherer.',
      good: 'Gut',
      strong: 'Sehr gut',
      tooLong: 'Zu lang',
    },
    refused: 'Dieses Passwort entspricht nicht den Regeln.',
    guessable: 'Dieses Passwort ist zu verbreitet, oder es ist Ihr Benutzername oder Ihre E-Mail-Adresse.',
    unchanged: 'Das neue Passwort muss sich vom aktuellen unterscheiden.',
    currentWrong: 'Dieses Passwort stimmt nicht.',
    save: 'Passwort speichern',
    linkIncomplete: 'Dieser Link ist unvollständig. Öffnen Sie ihn bitte erneut aus der E-Mail.',
    linkInvalid:
      'Dieser Link gilt nicht mehr: Er wurde schon benutzt, ist abgelaufen oder durch einen neueren ersetzt.',
    requestNewLink: 'Neuen Link anfordern',
    confirmIntro: 'Bestätigen Sie, dass diese E-Mail-Adresse ab jetzt zu Ihrem Konto gehört.',
    confirm: 'Adresse bestätigen',
    confirmed: 'Ihre neue E-Mail-Adresse ist bestätigt.',
    confirmInvalid:
      'Dieser Link gilt nicht mehr: Er wurde schon benutzt oder ist abgelaufen. Geben Sie die Adresse in Ihrem Konto bitte erneut ein.',
    toAccount: 'Zu meinem Konto',
    forcedIntro: 'Legen Sie ein eigenes Passwort fest, um fortzufahren.',
    changed: 'Das Passwort ist geändert. Alle anderen Sitzungen sind beendet.',
    directory:
      'Sie melden sich mit dem Passwort Ihres Unternehmens an. Ändern Sie es dort, zum Beispiel an Ihrem Arbeitsplatzrechner, oder fragen Sie Ihre IT.',
    signOut: 'Abmelden',
  },
  en: {
    toSignIn: 'Go to sign-in',
    forgotIntro: 'You will get an e-mail with a link to set a new password.',
    identifier: 'Username or e-mail address',
    requestLink: 'Request link',
    requested:
      'If this belongs to an account with an e-mail address, the mail is on its way. Its link works for 7 days.',
    requestedHint:
      'No e-mail? Check your spam folder. If you sign in with your company password, you cannot change it here; please ask your IT team.',
    requestAgain: 'Try another entry',
    newPassword: 'New password',
    currentPassword: 'Current password',
    rules: '10 to 128 characters. Not allowed: your username, your e-mail address and common passwords.',
    strength: {
      tooShort: 'Too short',
      fair: 'Fair. Longer is safer.',
      good: 'Good',
      strong: 'Very good',
      tooLong: 'Too long',
    },
    refused: 'This password does not follow the rules.',
    guessable: 'This password is too common, or it is your username or e-mail address.',
    unchanged: 'The new password must differ from the current one.',
    currentWrong: 'This password is not correct.',
    save: 'Save password',
    linkIncomplete: 'This link is incomplete. Please open it again from the e-mail.',
    linkInvalid: 'This link is no longer valid: it has been used, has expired or was replaced by a newer one.',
    requestNewLink: 'Request a new link',
    confirmIntro: 'Confirm that this e-mail address belongs to your account from now on.',
    confirm: 'Confirm address',
    confirmed: 'Your new e-mail address is confirmed.',
    confirmInvalid:
      'This link is no longer valid: it has been used or has expired. Please enter the address again in your account.',
    toAccount: 'Go to my account',
    forcedIntro: 'Set a password of your own to continue.',
    changed: 'Your password is changed. All other sessions have ended.',
    directory:
      'You sign in with your company password. Change it there, such as on your work computer, or ask your IT team.',
    signOut: 'Sign out',
  },
});
