import { collection, connect, machine } from '@zag-js/combobox';
import { normalizeProps, useMachine } from '@zag-js/preact';
import { ChevronDown } from 'lucide';
import { useId, useState } from 'preact/hooks';
import s from './combobox.module.css';
import type { ComboboxItem, ComboboxProps } from './combobox.tsx';
import { Icon } from './icon.tsx';
import { texts } from './texts.ts';

export function ComboboxMachine({ label, items, value, onSelect, placeholder, onQuery, disabled }: ComboboxProps) {
  const t = texts.value;
  // Null shows the whole list: nothing was typed since it opened.
  const [query, setQuery] = useState<string | null>(null);
  const shown = onQuery || query === null ? items : items.filter((item) => matches(item, query));
  const service = useMachine(machine, {
    id: useId(),
    collection: collection({ items: shown, itemToValue, itemToString }),
    value: value === null ? [] : [value],
    placeholder,
    disabled,
    openOnClick: true,
    inputBehavior: 'autohighlight',
    // Escapes from dialogs, which cut off what lies outside.
    positioning: { strategy: 'fixed', sameWidth: true, gutter: 4 },
    translations: { triggerLabel: t.open },
    onValueChange: ({ value: [chosen] }) => {
      if (chosen !== undefined && chosen !== value) onSelect(chosen);
    },
    onInputValueChange: ({ inputValue, reason }) => {
      if (reason !== 'input-change') return;
      setQuery(inputValue);
      onQuery?.(inputValue);
    },
    onOpenChange: ({ open }) => {
      if (!open) setQuery(null);
    },
  });
  const box = connect(service, normalizeProps);
  const { onKeyDown, ...input } = box.getInputProps();
  return (
    <div {...box.getRootProps()} class={s.box}>
      <label {...box.getLabelProps()}>{label}</label>
      <div {...box.getControlProps()} class={s.control}>
        <input
          {...input}
          dir="auto"
          onKeyDown={(event) => {
            // While the list is closed, Escape is for the dialog around.
            if (event.key !== 'Escape' || box.open) onKeyDown?.(event);
          }}
        />
        <button type="button" {...box.getTriggerProps()}>
          <Icon icon={ChevronDown} />
        </button>
      </div>
      <div {...box.getPositionerProps()}>
        <div {...box.getContentProps()} class={s.list}>
          {shown.map((item) => (
            <div key={item.value} {...box.getItemProps({ item })} dir="auto">
              {item.label}
              {item.hint && <small>{item.hint}</small>}
            </div>
          ))}
          {shown.length === 0 && <p>{t.noItems}</p>}
        </div>
      </div>
    </div>
  );
}

const itemToValue = (item: ComboboxItem) => item.value;
const itemToString = (item: ComboboxItem) => item.label;

const matches = ({ label, hint = '' }: ComboboxItem, query: string): boolean =>
  `${label} ${hint}`.toLocaleLowerCase().includes(query.trim().toLocaleLowerCase());
