import { useEffect, useState } from 'preact/hooks';
import type { Profile } from '@portal/client/interface';
import { me } from '../session.ts';
import { setAccent } from '../theme.ts';
import { Button } from '../ui/button.tsx';
import { fieldErrors, Form } from '../ui/form.tsx';
import { Card } from '../ui/page.tsx';
import { showToast } from '../ui/toast.tsx';
import { ColorField } from './color-field.tsx';
import { colorOf } from './color.ts';
import { texts } from './profile-texts.ts';
import s from './profile.module.css';
import { useSaveProfile } from './queries.ts';

const defaultAccent = '#2563eb';

const palette = {
  blue: defaultAccent,
  indigo: '#4f46e5',
  violet: '#7c3aed',
  magenta: '#c026d3',
  red: '#dc2626',
  orange: '#c2410c',
  amber: '#b45309',
  green: '#15803d',
  teal: '#0f766e',
  cyan: '#0e7490',
  slate: '#475569',
} as const;

type PaletteName = keyof typeof palette;
const paletteNames = Object.keys(palette) as PaletteName[];

/** The whole page shows the chosen colour until the person saves or discards it. */
export function AccentCard({ profile }: { profile: Profile }) {
  const t = texts.value;
  const [typed, setTyped] = useState<string | null>(null);
  const value = typed ?? profile.accentColor;
  const color = colorOf(value);
  const save = useSaveProfile();

  // Each saved change of the profile applies the saved colour, so this comes after it.
  useEffect(() => {
    if (color !== null) setAccent(color);
  }, [color, profile]);
  useEffect(() => () => setAccent(me.value?.accentColor ?? null), []);

  const submit = async () => {
    await save.mutateAsync({ accentColor: color ?? value });
    setTyped((now) => (now === typed ? null : now));
    showToast(t.saved, { kind: 'success' });
  };
  const discard = () => {
    save.reset();
    setTyped(null);
  };

  return (
    <Card title={t.accentTitle}>
      <p class={s.note}>{t.accentHint}</p>
      <Form
        onSubmit={submit}
        error={save.error}
        actions={
          <>
            <Button type="submit" kind="primary" busy={save.isPending}>
              {t.save}
            </Button>
            {typed !== null && <Button onClick={discard}>{t.discard}</Button>}
            {color !== defaultAccent && (
              <Button kind="ghost" onClick={() => setTyped(defaultAccent)}>
                {t.reset}
              </Button>
            )}
          </>
        }
      >
        <fieldset>
          <legend class={s.legend}>{t.accent}</legend>
          <div class={s.palette}>
            {paletteNames.map((name) => (
              <label key={name} class={s.swatch}>
                <input
                  type="radio"
                  name="accent"
                  value={palette[name]}
                  checked={color === palette[name]}
                  onChange={() => setTyped(palette[name])}
                />
                <span style={{ background: palette[name] }} aria-hidden />
                {t.colors[name]}
              </label>
            ))}
          </div>
        </fieldset>
        <ColorField
          label={t.ownColor}
          name="accentColor"
          value={value}
          onInput={setTyped}
          error={fieldErrors(save.error)['accentColor']}
        />
      </Form>
    </Card>
  );
}
