import { forgetChosenLanguage, type Language, setLanguage } from '../language.ts';
import { useMutation } from '../mutation.ts';
import { portal } from '../portal.ts';
import { me, setMe } from '../session.ts';
import { setTheme, type Theme } from '../theme.ts';
import { showToast } from '../ui/toast.tsx';
import { texts } from './texts.ts';

/** Null follows the browser. */
interface Preferences {
  language?: Language | null;
  theme?: Theme | null;
}

/** Changes the language or theme of the account. The page follows at once, and goes back if the change is refused. */
export function usePreferences(): (change: Preferences) => void {
  const save = useMutation({
    mutationFn: (change: Preferences) => portal.patch('/users/me', { body: change }),
    onMutate: apply,
    onSuccess: setMe,
    onError: () => {
      if (me.value) apply(me.value);
      showToast(texts.value.notSaved, { kind: 'error' });
    },
  });
  return save.mutate;
}

function apply({ language, theme }: Preferences): void {
  if (language === null) forgetChosenLanguage();
  if (language !== undefined) setLanguage(language);
  if (theme !== undefined) setTheme(theme);
}
