import { z } from 'zod';
import { requiredLine, text } from '../text.ts';

const unixLines = (value: string): string => value.replaceAll(/\r\n?/g, '\n').trim();

const requiredText = text().overwrite(unixLines).min(1, 'must not be empty');

/** Null stands for the built-in hint; an empty text is stored as null. */
const LoginHint = text(1_000)
  .overwrite(unixLines)
  .nullable()
  .overwrite((hint) => (hint === '' ? null : hint))
  .default(null);

/** The parts of the welcome mail an administrator may change: plain text with placeholders, never HTML. */
export const WelcomeMailTemplate = z.object({
  subject: requiredLine(200),
  heading: requiredText,
  intro: requiredText,
  closing: requiredText,
  loginHintDirectory: LoginHint,
  loginHintLocal: LoginHint,
});
export type WelcomeMailTemplate = z.infer<typeof WelcomeMailTemplate>;

/** The values of the placeholders in one mail. */
export const WelcomeMailValues = z.object({
  name: z.string(),
  vorname: z.string(),
  benutzername: z.string(),
  email: z.string(),
  adresse: z.string(),
  firma: z.string(),
});
export type WelcomeMailValues = z.infer<typeof WelcomeMailValues>;

export const welcomePlaceholders = WelcomeMailValues.keyof().options;

export const builtInWelcomeMail: WelcomeMailTemplate = {
  subject: 'Ihr Zugang zum Portal von {{firma}}',
  heading: 'Willkommen, {{vorname}}!',
  intro:
    'Guten Tag {{name}},\n\n' +
    'für Sie wurde ein Zugang zum Portal von {{firma}} eingerichtet. ' +
    'Dort finden Sie Ihr persönliches Dashboard und alle Anwendungen, die für Sie freigeschaltet sind.',
  closing: 'Bei Fragen hilft Ihnen Ihre Administration gerne weiter.\n\nFreundliche Grüße\n{{firma}}',
  loginHintDirectory: null,
  loginHintLocal: null,
};

const builtInLoginHint = {
  directory:
    'Melden Sie sich mit Ihrem Benutzernamen {{benutzername}} und dem Passwort an, das Sie auch sonst im ' +
    'Netzwerk von {{firma}} verwenden. Ein eigenes Passwort für das Portal brauchen Sie nicht.',
  local:
    'Bitte legen Sie zuerst über den folgenden Link Ihr persönliches Passwort fest. ' +
    'Danach melden Sie sich mit Ihrem Benutzernamen {{benutzername}} an.',
};

/** The login hint for an account of this kind: the administrator's if set, otherwise the built-in one. */
export const loginHint = (
  template: Pick<WelcomeMailTemplate, 'loginHintDirectory' | 'loginHintLocal'>,
  source: 'local' | 'directory',
): string => {
  const own = source === 'local' ? template.loginHintLocal : template.loginHintDirectory;
  return own ?? builtInLoginHint[source];
};

/** Stand-in person for the preview. */
export const sampleWelcomePerson = {
  displayName: 'Erika Beispiel',
  firstName: 'Erika',
  username: 'erika.beispiel',
  email: 'erika.beispiel@example.com',
};

interface WelcomedPerson {
  username: string;
  displayName: string | null;
  firstName: string | null;
  email: string | null;
}

/** The values for one person's mail; the name falls back to the username, the first name to the name. */
export const welcomeMailValues = (
  person: WelcomedPerson,
  portal: { adresse: string; firma: string },
): WelcomeMailValues => {
  const name = person.displayName?.trim() || person.username;
  return {
    name,
    vorname: person.firstName?.trim() || name,
    benutzername: person.username,
    email: person.email ?? '',
    ...portal,
  };
};

const placeholder = /\{\{([^{}]*)\}\}/g;

const isPlaceholder = (name: string): name is keyof WelcomeMailValues =>
  (welcomePlaceholders as readonly string[]).includes(name);

/** Every unknown placeholder with its field; each once per field. */
export const findUnknownPlaceholders = (template: WelcomeMailTemplate): { field: string; name: string }[] =>
  Object.entries(template).flatMap(([field, content]) => {
    const names = [...(content ?? '').matchAll(placeholder)].map((match) => (match[1] ?? '').trim());
    return [...new Set(names)].filter((name) => !isPlaceholder(name)).map((name) => ({ field, name }));
  });

/**
 * Fills placeholders in one pass, so that a value that looks like a placeholder stays unchanged, and on one line, so that a name cannot
 * add paragraphs.
 * The result is plain text: a caller that puts it into HTML escapes the whole result.
 */
export const fillPlaceholders = (content: string, values: WelcomeMailValues): string =>
  content.replaceAll(placeholder, (whole, inner: string) => {
    const name = inner.trim();
    return isPlaceholder(name) ? values[name].replaceAll(/\s+/g, ' ').trim() : whole;
  });
