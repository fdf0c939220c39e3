import { useState } from 'preact/hooks';
import type { TenderFacets } from '@portal/client/interface';
import { formatNumber } from '../language.ts';
import { Button } from '../ui/button.tsx';
import { CheckField, SelectField, TextField } from '../ui/field.tsx';
import { VisuallyHidden } from '../ui/visually-hidden.tsx';
import { cpvDivisions, cpvName } from './cpv-divisions.ts';
import { isLand, isNoticeType, nameIn, names } from './names.ts';
import { dueChoices, publishedChoices, type TenderFilter } from './tender-filter.ts';
import s from './tenders.module.css';
import { texts } from './texts.ts';
import { useTyped } from './use-typed.ts';

interface PanelProps {
  filter: TenderFilter;
  /** Undefined until they are counted: the filters work without. */
  facets: TenderFacets | undefined;
  sourceName: (key: string) => string;
  onChange: (change: Partial<TenderFilter>) => void;
}

/** What narrows the list, with how many tenders each choice would leave. */
export function FilterPanel({ filter, facets, sourceName, onChange }: PanelProps) {
  const t = texts.value;
  const { laender, noticeTypes, sources } = names.value;
  return (
    <div class={s.stack}>
      <CheckField label={t.unread} name="unread" checked={filter.unread} onChange={(unread) => onChange({ unread })} />
      <CheckField
        label={t.favorite}
        name="favorite"
        checked={filter.favorite}
        onChange={(favorite) => onChange({ favorite })}
      />
      <DeadlineFilter filter={filter} onChange={onChange} />
      <PublishedFilter filter={filter} onChange={onChange} />
      <Choices
        legend={t.land}
        all={Object.keys(laender)}
        chosen={filter.laender}
        counts={facets?.bundeslaender}
        nameOf={(key) => nameIn(laender, key)}
        onChange={(keys) => onChange({ laender: keys.filter(isLand) })}
      />
      <Choices
        legend={t.cpv}
        all={Object.keys(cpvDivisions.value).toSorted()}
        chosen={filter.cpv}
        counts={facets?.cpvDivisions}
        nameOf={cpvName}
        onChange={(cpv) => onChange({ cpv })}
      />
      <Choices
        legend={t.source}
        all={Object.keys(sources)}
        chosen={filter.sources}
        counts={facets?.sources}
        nameOf={sourceName}
        onChange={(keys) => onChange({ sources: keys })}
      />
      <BuyerFilter buyer={filter.buyer} onChange={(buyer) => onChange({ buyer })} />
      <Choices
        legend={t.noticeType}
        hint={t.noticeTypeHint}
        all={Object.keys(noticeTypes)}
        chosen={filter.noticeTypes}
        nameOf={(key) => nameIn(noticeTypes, key)}
        onChange={(keys) => onChange({ noticeTypes: keys.filter(isNoticeType) })}
      />
      {facets?.isCapped && <p class={s.muted}>{t.capped}</p>}
    </div>
  );
}

/** Choices shown before the person asks for all. */
const fewChoices = 5;

interface ChoicesProps {
  legend: string;
  hint?: string;
  all: readonly string[];
  chosen: readonly string[];
  counts?: readonly { key: string; count: number }[] | undefined;
  nameOf: (key: string) => string;
  onChange: (chosen: string[]) => void;
}

/** Check boxes, those with the most tenders first. What is chosen always shows. */
function Choices({ legend, hint, all, chosen, counts, nameOf, onChange }: ChoicesProps) {
  const t = texts.value;
  const [isOpen, setOpen] = useState(false);
  const countOf = new Map(counts?.map(({ key, count }) => [key, count]));
  const ordered = [...new Set([...(counts ?? []).map(({ key }) => key), ...all, ...chosen])];
  const few = ordered.filter((key, at) => at < fewChoices || chosen.includes(key));
  const shown = isOpen ? ordered : few;
  return (
    <fieldset>
      <legend>
        <strong>{legend}</strong>
      </legend>
      {hint && <p class={s.muted}>{hint}</p>}
      {shown.map((key) => (
        <CheckField
          key={key}
          name={key}
          label={<ChoiceLabel name={nameOf(key)} count={countOf.get(key)} />}
          checked={chosen.includes(key)}
          onChange={(isChosen) => onChange(isChosen ? [...chosen, key] : chosen.filter((other) => other !== key))}
        />
      ))}
      {few.length < ordered.length && (
        <Button kind="ghost" size="small" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          {isOpen ? t.showFewer : t.showAll(ordered.length)}
          <VisuallyHidden>: {legend}</VisuallyHidden>
        </Button>
      )}
    </fieldset>
  );
}

const ChoiceLabel = ({ name, count }: { name: string; count: number | undefined }) => (
  <>
    {name}{' '}
    {count !== undefined && (
      <span class={s.muted}>
        <span aria-hidden>{formatNumber(count, 0)}</span>
        <VisuallyHidden>({texts.value.counted(count)})</VisuallyHidden>
      </span>
    )}
  </>
);

interface PartProps {
  filter: TenderFilter;
  onChange: (change: Partial<TenderFilter>) => void;
}

const other = 'other';

function DeadlineFilter({ filter: { due, deadlineFrom, deadlineTo }, onChange }: PartProps) {
  const t = texts.value;
  return (
    <Period
      label={t.deadline}
      hint={t.deadlineHint}
      choice={due}
      choices={dueChoices.map((value) => ({ value, label: t.dueIn[value] }))}
      from={deadlineFrom}
      to={deadlineTo}
      onChange={({ choice, from, to }) =>
        onChange({
          due: dueChoices.find((value) => value === choice) ?? '',
          deadlineFrom: from,
          deadlineTo: to,
        })
      }
    />
  );
}

function PublishedFilter({ filter: { published, publishedFrom, publishedTo }, onChange }: PartProps) {
  const t = texts.value;
  return (
    <Period
      label={t.published}
      choice={published}
      choices={publishedChoices.map((value) => ({ value, label: t.publishedIn[value] }))}
      from={publishedFrom}
      to={publishedTo}
      onChange={({ choice, from, to }) =>
        onChange({
          published: publishedChoices.find((value) => value === choice) ?? '',
          publishedFrom: from,
          publishedTo: to,
        })
      }
    />
  );
}

interface PeriodProps {
  label: string;
  hint?: string;
  choice: string;
  choices: { value: string; label: string }[];
  from: string;
  to: string;
  onChange: (period: { choice: string; from: string; to: string }) => void;
}

/** A period relative to today, or two days. */
function Period({ label, hint, choice, choices, from, to, onChange }: PeriodProps) {
  const t = texts.value;
  const [isOther, setOther] = useState(false);
  const hasDays = choice === '' && (isOther || from !== '' || to !== '');
  const isWrongWay = from !== '' && to !== '' && to < from;
  return (
    <fieldset class={s.stack}>
      <legend>
        <VisuallyHidden>{label}</VisuallyHidden>
      </legend>
      <SelectField
        label={label}
        name={label}
        hint={choice || hasDays ? hint : undefined}
        value={hasDays ? other : choice}
        options={[{ value: '', label: t.anyTime }, ...choices, { value: other, label: t.otherTime }]}
        onChange={(value) => {
          setOther(value === other);
          onChange({ choice: value === other ? '' : value, from: '', to: '' });
        }}
      />
      {hasDays && (
        <>
          <TextField
            label={t.from}
            name="from"
            type="date"
            value={from}
            max={to || undefined}
            onInput={(day) => onChange({ choice: '', from: day, to })}
          />
          <TextField
            label={t.to}
            name="to"
            type="date"
            value={to}
            min={from || undefined}
            error={isWrongWay ? t.toBeforeFrom : undefined}
            onInput={(day) => onChange({ choice: '', from, to: day })}
          />
        </>
      )}
    </fieldset>
  );
}

function BuyerFilter({ buyer, onChange }: { buyer: string; onChange: (buyer: string) => void }) {
  const [typed, setTyped] = useTyped(buyer, onChange);
  return (
    <TextField label={texts.value.buyer} name="buyer" type="search" maxLength={200} value={typed} onInput={setTyped} />
  );
}
