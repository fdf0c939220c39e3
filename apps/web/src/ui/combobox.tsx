import { lazy } from '../lazy.tsx';

export interface ComboboxItem {
  value: string;
  label: string;
  hint?: string | undefined;
}

export interface ComboboxProps {
  label: string;
  items: readonly ComboboxItem[];
  value: string | null;
  onSelect: (value: string) => void;
  placeholder?: string | undefined;
  /** Searches elsewhere: the list then shows all `items`. Without it, the items that contain the text are shown. */
  onQuery?: ((text: string) => void) | undefined;
  disabled?: boolean | undefined;
}

/** A field that searches a list and chooses one of its items. */
export const Combobox = lazy<ComboboxProps>(() =>
  import('./combobox-machine.tsx').then(({ ComboboxMachine }) => ComboboxMachine),
);
