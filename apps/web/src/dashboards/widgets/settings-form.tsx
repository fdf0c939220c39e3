import type { ComponentChildren } from 'preact';
import css from './settings.module.css';
import tile from './tile.module.css';

interface Props {
  errors: Record<string, string>;
  children: ComponentChildren;
}

/** The fields of a widget’s configuration. The dialog around them belongs to the dashboard. */
export function SettingsForm({ errors, children }: Props) {
  const { config } = errors;
  return (
    <div class={css.form}>
      {/* Said about the configuration as a whole */}
      {config && (
        <p role="alert" class={tile.error}>
          {config}
        </p>
      )}
      {children}
    </div>
  );
}
