import { FolderSearch, Plus, X } from 'lucide';
import { useState } from 'preact/hooks';
import profile from '../accounts/profile.module.css';
import { Button, IconButton } from '../ui/button.tsx';
import { TextField } from '../ui/field.tsx';
import formStyle from '../ui/form.module.css';
import { type Column, Table } from '../ui/table.tsx';
import { GroupPicker } from './group-picker.tsx';
import { nameOfDn } from './settings-draft.ts';
import { texts } from './texts.ts';

interface IncludeListProps {
  dns: readonly string[];
  onChange: (dns: string[]) => void;
  error: string | undefined;
  errorAt: (index: number) => string | undefined;
}

/** The groups and units whose people get accounts. */
export function IncludeList({ dns, onChange, error, errorAt }: IncludeListProps) {
  const t = texts.value;
  const [isPicking, setPicking] = useState(false);
  const [typed, setTyped] = useState('');
  const firstWrong = dns.findIndex((_, index) => errorAt(index) !== undefined);
  const reason = errorAt(firstWrong);
  const wrong = dns[firstWrong];
  const add = () => {
    const dn = typed.trim();
    if (dn === '') return;
    if (!dns.includes(dn)) onChange([...dns, dn]);
    setTyped('');
  };
  return (
    <fieldset>
      <legend class={profile.legend}>{t.includeDns}</legend>
      <div
        class={formStyle.form}
        role="presentation"
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || !(event.target instanceof HTMLInputElement)) return;
          // Enter would save the settings, from the dialog as well.
          event.preventDefault();
          if (event.target.name === 'includeDns') add();
        }}
      >
        <p class={profile.note}>{dns.length === 0 ? t.includeAll : t.includeHint}</p>
        {dns.length > 0 && (
          <Table
            caption={t.includeDns}
            columns={columnsOf((dn) => onChange(dns.filter((one) => one !== dn)))}
            rows={dns}
            rowKey={(dn) => dn}
            empty={null}
          />
        )}
        <div class={formStyle.actions}>
          <Button icon={FolderSearch} onClick={() => setPicking(true)}>
            {t.pick}
          </Button>
        </div>
        <TextField
          label={t.addDn}
          name="includeDns"
          autocomplete="off"
          value={typed}
          onInput={setTyped}
          error={wrong !== undefined && reason !== undefined ? t.entryWrong(nameOfDn(wrong), reason) : error}
        />
        {typed.trim() !== '' && (
          <div class={formStyle.actions}>
            <Button icon={Plus} onClick={add}>
              {t.add}
            </Button>
          </div>
        )}
        {isPicking && <GroupPicker dns={dns} onChange={onChange} onClose={() => setPicking(false)} />}
      </div>
    </fieldset>
  );
}

function columnsOf(onRemove: (dn: string) => void): Column<string>[] {
  const t = texts.value;
  return [
    { key: 'name', label: t.includeDns, cell: nameOfDn },
    { key: 'dn', label: 'DN', cell: (dn) => dn },
    {
      key: 'remove',
      label: '',
      align: 'end',
      cell: (dn) => <IconButton icon={X} label={t.removeOf(nameOfDn(dn))} onClick={() => onRemove(dn)} />,
    },
  ];
}
