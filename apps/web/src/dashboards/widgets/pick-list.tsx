import type { ComponentChildren } from 'preact';
import { useId, useState } from 'preact/hooks';
import { CheckField, TextField } from '../../ui/field.tsx';
import { filtered } from './pick-filter.ts';
import { texts } from './settings-texts.ts';
import css from './settings.module.css';
import tile from './tile.module.css';

interface PickItem {
  id: string;
  label: ComponentChildren;
  /** What the search looks into. */
  text: string;
}

interface Props {
  legend: string;
  hint: string;
  items: readonly PickItem[];
  ids: readonly string[];
  onChange: (ids: string[]) => void;
  error?: string | undefined;
}

/** A list from which shorter ones need no search. */
const searchFrom = 9;
/** Rows that are drawn; the search finds the others. */
const maxRows = 200;

/** Check boxes for what a widget shows; with a search if there are many. */
export function PickList({ legend, hint, items, ids, onChange, error }: Props) {
  const t = texts.value;
  const [search, setSearch] = useState('');
  const hintId = useId();
  const found = filtered(items, search);
  const toggle = (id: string, isOn: boolean) => onChange(isOn ? [...ids, id] : ids.filter((one) => one !== id));
  return (
    <fieldset class={css.picks} aria-describedby={hintId}>
      <legend>{legend}</legend>
      <p id={hintId} class={tile.muted}>
        {hint} {ids.length > 0 && t.chosen(ids.length)}
      </p>
      {error && (
        <p role="alert" class={tile.error}>
          {error}
        </p>
      )}
      {items.length >= searchFrom && (
        <div
          role="presentation"
          onKeyDown={(event) => {
            // Enter would save the settings.
            if (event.key === 'Enter') event.preventDefault();
          }}
        >
          <TextField label={t.search} name="search" type="search" value={search} onInput={setSearch} />
        </div>
      )}
      <div class={css.options}>
        {found.slice(0, maxRows).map(({ id, label }) => (
          <CheckField
            key={id}
            name={id}
            label={label}
            checked={ids.includes(id)}
            onChange={(isOn) => toggle(id, isOn)}
          />
        ))}
        {found.length === 0 && <p class={tile.muted}>{t.noMatch}</p>}
        {found.length > maxRows && <p class={tile.muted}>{t.moreMatches(found.length - maxRows)}</p>}
      </div>
    </fieldset>
  );
}
