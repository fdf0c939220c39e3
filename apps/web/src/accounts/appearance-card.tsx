import { useEffect } from 'preact/hooks';
import type { Profile } from '@portal/client/interface';
import { setLanguage } from '../language.ts';
import { me } from '../session.ts';
import { setTheme } from '../theme.ts';
import { Button } from '../ui/button.tsx';
import { SelectField } from '../ui/field.tsx';
import { Form } from '../ui/form.tsx';
import { Card } from '../ui/page.tsx';
import { texts } from './profile-texts.ts';
import s from './profile.module.css';
import { useSaveProfile } from './queries.ts';

/** A choice applies and is saved at once. If saving fails, it stays in force on this page and can be saved again. */
export function AppearanceCard({ profile }: { profile: Profile }) {
  const t = texts.value;
  const save = useSaveProfile();
  const unsaved = save.isPending || save.isError ? save.variables : {};
  const { language, theme } = { language: profile.language, theme: profile.theme, ...unsaved };

  // Each saved change of the profile applies what is saved, so this comes after it.
  useEffect(() => {
    setLanguage(language);
    setTheme(theme);
  }, [language, theme, profile]);
  useEffect(
    () => () => {
      setLanguage(me.value?.language ?? null);
      setTheme(me.value?.theme ?? null);
    },
    [],
  );

  return (
    <Card title={t.appearanceTitle}>
      <p class={s.note}>{t.appliesAtOnce}</p>
      <Form
        onSubmit={() => save.mutateAsync({ language, theme })}
        error={save.error}
        actions={
          save.isError && (
            <>
              <Button type="submit" kind="primary">
                {t.save}
              </Button>
              <Button onClick={() => save.reset()}>{t.discard}</Button>
            </>
          )
        }
      >
        <div class={s.columns}>
          <SelectField
            label={t.language}
            name="language"
            value={language ?? ''}
            onChange={(value) => save.mutate({ theme, language: value === 'de' || value === 'en' ? value : null })}
            options={[
              { value: '', label: t.followBrowser },
              { value: 'de', label: 'Deutsch' },
              { value: 'en', label: 'English' },
            ]}
          />
          <SelectField
            label={t.theme}
            name="theme"
            value={theme ?? ''}
            onChange={(value) => save.mutate({ language, theme: value === 'light' || value === 'dark' ? value : null })}
            options={[
              { value: '', label: t.followBrowser },
              { value: 'light', label: t.themes.light },
              { value: 'dark', label: t.themes.dark },
            ]}
          />
        </div>
      </Form>
    </Card>
  );
}
