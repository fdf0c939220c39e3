import { CircleAlert, Wand } from 'lucide';
import { useId } from 'preact/hooks';
import type { MerchandisePreview } from '@portal/client/interface';
import users from '../accounts/users.module.css';
import { formatNumber } from '../language.ts';
import { Button } from '../ui/button.tsx';
import field from '../ui/field.module.css';
import { Icon } from '../ui/icon.tsx';
import { Card } from '../ui/page.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { type AccountIndex, isAccountNumber, nameKey } from './account-numbers.ts';
import type { CheckedRow } from './checked-rows.ts';
import { formatCents } from './euros.ts';
import { cellOf } from './findings.ts';
import { texts } from './merchandise-texts.ts';
import { shared } from './shared-texts.ts';

/** A name that the account list lacks. */
interface UnknownName {
  key: string;
  name: string;
  rows: number;
  amountCents: number;
}

/** The names without an account, each once. Those that are faulty must be corrected in the file. */
export function unknownNames(rows: readonly CheckedRow<MerchandisePreview['rows'][number]>[]): UnknownName[] {
  const found = new Map<string, UnknownName>();
  for (const { data, errors } of rows) {
    if (!data?.isNew || errors.some(({ code }) => cellOf(code) === 'name')) continue;
    const key = nameKey(data.name);
    const known = found.get(key) ?? { key, name: data.name, rows: 0, amountCents: 0 };
    found.set(key, known);
    known.rows += 1;
    known.amountCents += data.amountCents ?? 0;
  }
  return [...found.values()];
}

type Numbers = Readonly<Record<string, string>>;

/** What is wrong with the numbers that were typed: key of the name → text. */
export function faultsOf(
  unknown: readonly UnknownName[],
  numbers: Numbers,
  { byNumber }: AccountIndex,
): Map<string, string> {
  const { faults } = texts.value;
  const found = new Map<string, string>();
  const given = new Set<string>();
  for (const { key } of unknown) {
    const number = numbers[key] ?? '';
    if (number === '') continue;
    const owner = byNumber.get(number);
    if (!isAccountNumber(number)) found.set(key, faults.invalid);
    else if (owner && nameKey(owner.name) !== key) found.set(key, faults.taken(owner.name));
    else if (given.has(number)) found.set(key, faults.twice);
    given.add(number);
  }
  return found;
}

interface AssignAccountsProps {
  unknown: readonly UnknownName[];
  numbers: Numbers;
  onChange: (numbers: Numbers) => void;
  index: AccountIndex;
  faults: ReadonlyMap<string, string>;
}

/** A number for each name without an account. Enter goes to the next one. */
export function AssignAccounts({ unknown, numbers, onChange, index, faults }: AssignAccountsProps) {
  const t = texts.value;
  const taken = new Set([...index.byNumber.keys(), ...unknown.flatMap(({ key }) => numbers[key] ?? [])]);
  const fillAll = () => {
    const next: Record<string, string> = { ...numbers };
    const used = new Set(taken);
    for (const { key, name } of unknown) {
      if (next[key]) continue;
      const number = index.suggestionFor(name, used);
      next[key] = number;
      used.add(number);
    }
    onChange(next);
  };
  return (
    <Card
      title={t.assign}
      actions={
        <Button icon={Wand} onClick={fillAll}>
          {t.fillAll}
        </Button>
      }
    >
      <p>{t.assignText}</p>
      <Table
        caption={t.assign}
        columns={columnsOf({ numbers, onChange, index, faults }, taken)}
        rows={unknown}
        rowKey={({ key }) => key}
        empty={null}
      />
    </Card>
  );
}

function columnsOf(
  { numbers, onChange, index, faults }: Omit<AssignAccountsProps, 'unknown'>,
  taken: ReadonlySet<string>,
): Column<UnknownName>[] {
  const t = texts.value;
  return [
    { key: 'name', label: t.article, cell: ({ name }) => name },
    {
      key: 'rows',
      label: shared.value.rows,
      align: 'end',
      hideOnCard: true,
      cell: ({ rows }) => formatNumber(rows),
    },
    {
      key: 'amount',
      label: shared.value.amount,
      align: 'end',
      cell: ({ amountCents }) => formatCents(amountCents),
    },
    {
      key: 'number',
      label: t.account,
      width: '22%',
      cell: ({ key, name }) => (
        <NumberInput
          name={name}
          value={numbers[key] ?? ''}
          suggestion={index.suggestionFor(name, taken)}
          fault={faults.get(key)}
          onInput={(number) => onChange({ ...numbers, [key]: number })}
        />
      ),
    },
    {
      key: 'suggestion',
      label: t.suggestion,
      width: '30%',
      cell: ({ key, name }) => {
        const similar = index.similarTo(name);
        const number = index.suggestionFor(name, taken);
        return (
          <div class={users.stack}>
            {!numbers[key] && (
              <div>
                <Button
                  size="small"
                  aria-label={t.take(number, name)}
                  onClick={() => onChange({ ...numbers, [key]: number })}
                >
                  {number}
                </Button>
              </div>
            )}
            {similar && <span class={users.muted}>{t.similar(similar.name, similar.number)}</span>}
          </div>
        );
      },
    },
  ];
}

interface NumberInputProps {
  name: string;
  value: string;
  suggestion: string;
  fault: string | undefined;
  onInput: (number: string) => void;
}

function NumberInput({ name, value, suggestion, fault, onInput }: NumberInputProps) {
  const id = useId();
  return (
    <>
      <input
        class={field.input}
        inputMode="numeric"
        autocomplete="off"
        maxLength={9}
        list={`${id}-numbers`}
        aria-label={texts.value.numberOf(name)}
        aria-invalid={fault ? true : undefined}
        aria-describedby={fault ? `${id}-fault` : undefined}
        data-account-number
        value={value}
        onInput={({ currentTarget }) => onInput(currentTarget.value.trim())}
        onKeyDown={(event) => {
          if (event.key === 'Enter') nextInput(event.currentTarget)?.focus();
        }}
      />
      <datalist id={`${id}-numbers`}>
        <option value={suggestion}>{suggestion}</option>
      </datalist>
      {fault && (
        <div class={field.error} id={`${id}-fault`}>
          <Icon icon={CircleAlert} />
          <span>{fault}</span>
        </div>
      )}
    </>
  );
}

function nextInput(from: HTMLInputElement): HTMLInputElement | undefined {
  const inputs = [...(from.closest('table')?.querySelectorAll<HTMLInputElement>('[data-account-number]') ?? [])];
  return inputs[inputs.indexOf(from) + 1];
}
