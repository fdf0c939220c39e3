import { keepPreviousData, useQuery } from '@tanstack/preact-query';
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { SavedSearch } from '@portal/client/interface';
import { PortalError } from '@portal/client/portal-error';
import { formatDate } from '../language.ts';
import { useMutation } from '../mutation.ts';
import { portal, queryClient } from '../portal.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { CheckField, RadioGroup, SwitchField, TextField } from '../ui/field.tsx';
import { fieldErrors, Form } from '../ui/form.tsx';
import { QueryView } from '../ui/states.tsx';
import { Status } from '../ui/status.tsx';
import { showToast } from '../ui/toast.tsx';
import { useUnsavedChanges } from '../ui/unsaved.ts';
import { nameIn, names } from './names.ts';
import { useSourceNames } from './queries.ts';
import { areEmpty, draftOf, type Filters, filtersOfDraft, type SearchDraft } from './search-draft.ts';
import { texts } from './search-texts.ts';
import type { Unsaved } from './tender-filter.ts';
import s from './tenders.module.css';

interface SearchDialogProps {
  /** The saved search to change; left out for a new one. */
  search?: SavedSearch;
  filters: Filters;
  /** What the list narrows and no search can keep. */
  unsaved?: readonly Unsaved[];
  onClose: () => void;
}

/** Saves a search, new or changed, with a preview of what it finds. */
export function SearchDialog({ search, filters: given, unsaved = [], onClose }: SearchDialogProps) {
  const t = texts.value;
  const [name, setName] = useState(search?.name ?? '');
  const [alert, setAlert] = useState(search?.instantAlert ?? false);
  const [opened] = useState(() => draftOf(given));
  const [draft, setDraft] = useState(opened);
  // What the person left alone is sent as it came.
  const filters = sameDraft(draft, opened) ? given : filtersOfDraft(draft, given);
  const isEmpty = areEmpty(filters);
  const instantAlert = alert && !isEmpty;
  const isDirty =
    name !== (search?.name ?? '') || alert !== (search?.instantAlert ?? false) || !sameDraft(draft, opened);
  const preview = usePreview(filters);

  const save = useMutation({
    mutationFn: () => {
      const body = { name: name.trim(), filters, instantAlert };
      return search
        ? portal.patch('/tenders/saved-searches/{id}', { params: { path: { id: search.id } }, body })
        : portal.post('/tenders/saved-searches', { body });
    },
    onSuccess: (saved) => {
      void queryClient.invalidateQueries({ queryKey: ['tenders', 'saved-searches'] });
      // Lists of this search now find something else.
      queryClient.removeQueries({ queryKey: ['tenders', 'pages'], type: 'inactive' });
      showToast(t.saved(saved.name), { kind: 'success' });
      onClose();
    },
  });
  useUnsavedChanges(isDirty && !save.isSuccess);
  const errors = errorsOf(save.error);
  const isRelative = filters.deadline !== undefined || filters.published !== undefined;

  return (
    <Dialog title={search ? t.editTitle(search.name) : t.saveTitle} size="wide" onClose={onClose}>
      <Form
        onSubmit={() => save.mutateAsync()}
        error={save.error}
        actions={
          <>
            <Button type="submit" kind="primary" busy={save.isPending}>
              {t.save}
            </Button>
            <Button onClick={onClose}>{t.cancel}</Button>
          </>
        }
      >
        <TextField
          label={t.name}
          name="name"
          value={name}
          onInput={setName}
          required
          maxLength={200}
          error={errors.name}
          autofocus
        />
        {!search && (
          <div class={s.muted}>
            <p>{t.afterSave}</p>
            {isRelative && <p>{t.relative}</p>}
            {unsaved.map((what) => (
              <p key={what}>{t.unsaved[what]}</p>
            ))}
          </div>
        )}
        <SwitchField
          label={t.alert}
          name="instantAlert"
          checked={instantAlert}
          disabled={isEmpty}
          onChange={setAlert}
          hint={isEmpty ? t.alertNeedsFilters : t.alertHint}
          error={errors.alert}
        />
        {instantAlert && (preview.data?.count ?? 0) >= 1_000 && <Status kind="warning">{t.alertMany}</Status>}
        <fieldset class={s.stack} aria-busy={preview.isFetching}>
          <legend>
            <strong>{t.preview}</strong>
          </legend>
          {preview.isError ? (
            <p role="status">{errorsOf(preview.error).words ?? t.previewFailed}</p>
          ) : (
            <QueryView query={preview}>
              {({ count, items }) => (
                <>
                  <p role="status">{t.found(count)}</p>
                  {items.length > 0 && (
                    <ul>
                      {items.map(({ id, title, buyerName, deadlineAt }) => (
                        <li key={id}>
                          <span dir="auto">{title}</span>{' '}
                          <span class={s.muted} dir="auto">
                            {[buyerName, deadlineAt && formatDate(deadlineAt)].filter(Boolean).join(' · ')}
                          </span>
                        </li>
                      ))}
                    </ul>
                  )}
                </>
              )}
            </QueryView>
          )}
        </fieldset>
        <details open={search !== undefined || errors.isInFilters}>
          <summary>
            <strong>{t.filters}</strong>
          </summary>
          <FilterFields
            draft={draft}
            base={given}
            errors={errors}
            set={(field) => (value) => setDraft((before) => ({ ...before, [field]: value }))}
          />
        </details>
      </Form>
    </Dialog>
  );
}

const sameDraft = (a: SearchDraft, b: SearchDraft) => JSON.stringify(a) === JSON.stringify(b);

const pauseMs = 500;

/** What the filters find now, asked after a pause in typing. */
function usePreview(filters: Filters) {
  const key = JSON.stringify(filters);
  const [asked, setAsked] = useState({ key, filters });
  useEffect(() => {
    if (key === asked.key) return undefined;
    const timer = setTimeout(() => setAsked({ key, filters }), pauseMs);
    return () => clearTimeout(timer);
  }, [key]);
  return useQuery({
    queryKey: ['tenders', 'preview', asked.key],
    queryFn: ({ signal }) =>
      portal.post('/tenders/saved-searches/preview', { body: { filters: asked.filters }, signal }),
    placeholderData: keepPreviousData,
    retry: false,
  });
}

interface Errors {
  name?: string | undefined;
  alert?: string | undefined;
  words?: string | undefined;
  /** Blocks of the filters that are refused. */
  of: (block: string) => string | undefined;
  isInFilters: boolean;
}

/** The refusal of a search in words, by field. */
function errorsOf(error: unknown): Errors {
  const t = texts.value;
  const refused = fieldErrors(error);
  const paths = Object.keys(refused);
  const code = error instanceof PortalError ? error.code : null;
  const of = (block: string) => {
    const path = paths.find((one) => one === `filters.${block}` || one.startsWith(`filters.${block}.`));
    return path === undefined ? undefined : (refused[path] ?? t.badFilters);
  };
  const words = paths.includes('filters.text') ? t.noWords : of('text') && t.wordLength;
  return {
    name: code === 'NAME_TAKEN' ? t.nameTaken : refused['name'],
    alert: refused['instantAlert'] && t.alertNeedsFilters,
    words,
    of: (block) => (block === 'text' ? words : of(block)),
    isInFilters: paths.some((path) => path.startsWith('filters')),
  };
}

interface FieldsProps {
  draft: SearchDraft;
  base: Filters;
  errors: Errors;
  set: <Field extends keyof SearchDraft>(field: Field) => (value: SearchDraft[Field]) => void;
}

function FilterFields({ draft, base, errors, set }: FieldsProps) {
  const t = texts.value;
  const { laender, noticeTypes, natures, sources } = names.value;
  const sourceName = useSourceNames(draft.sources);
  const text = (field: TextName, label: string, more: { hint?: string; error?: string | undefined } = {}) => (
    <TextField
      key={field}
      label={label}
      name={field}
      value={draft[field]}
      onInput={set(field)}
      hint={more.hint ?? t.separated}
      error={more.error}
    />
  );
  const days = (field: TextName, label: string, error: string | undefined, hint?: string) => (
    <TextField
      label={label}
      name={field}
      type="number"
      min={0}
      value={draft[field]}
      onInput={set(field)}
      error={error}
      hint={hint}
    />
  );
  const check = (field: FlagName, label: string) => (
    <CheckField label={label} name={field} checked={draft[field]} onChange={set(field)} />
  );
  const { words } = errors;
  const currency = base.value?.currency ?? 'EUR';
  return (
    <div class={s.stack}>
      <Part legend={t.words}>
        {text('all', t.all, { error: words })}
        {text('any', t.any)}
        {text('phrases', t.phrases)}
        {text('none', t.none)}
        {text('contains', t.contains, { hint: t.containsHint })}
      </Part>
      <Part legend={t.codes}>
        {text('cpv', t.cpv, { hint: t.cpvHint, error: errors.of('cpv') })}
        {text('cpvExclude', t.cpvExclude)}
        {check('cpvMissing', t.cpvMissing)}
        <RadioGroup
          legend={t.combine}
          name="combine"
          value={draft.combine}
          onChange={set('combine')}
          options={[
            { value: 'all', label: t.combineAll },
            { value: 'any', label: t.combineAny },
          ]}
        />
      </Part>
      <Keys legend={t.region} all={laender} chosen={draft.laender} onChange={set('laender')} />
      {check('nationwide', t.nationwide)}
      {check('regionUnknown', t.regionUnknown)}
      <Part legend={t.times}>
        {days('minDays', t.minDays, errors.of('deadline'))}
        {days('maxDays', t.maxDays, undefined)}
        {check('deadlineUnknown', t.deadlineUnknown)}
        {days('sinceDays', t.sinceDays, errors.of('published'))}
      </Part>
      <Part legend={t.buyers}>
        {text('buyer', t.buyer, { error: errors.of('buyer') })}
        {text('buyerNone', t.buyerNone)}
      </Part>
      <Keys legend={t.kinds} hint={t.kindsHint} all={noticeTypes} chosen={draft.kinds} onChange={set('kinds')} />
      <Keys legend={t.natures} all={natures} chosen={draft.natures} onChange={set('natures')} />
      <Part legend={t.value}>
        {days('minValue', t.minValue, errors.of('value'), t.currency(currency))}
        {days('maxValue', t.maxValue, undefined, t.currency(currency))}
        {check('valueUnknown', t.valueUnknown)}
      </Part>
      <Keys
        legend={t.sources}
        hint={t.sourcesHint}
        all={{ ...sources, ...Object.fromEntries(draft.sources.map((key) => [key, sourceName(key)])) }}
        chosen={draft.sources}
        onChange={set('sources')}
      />
      {check('includeRss', t.includeRss)}
      {(base.region?.nuts.length || base.procedureTypes || base.text?.fields) && <p class={s.muted}>{t.kept}</p>}
    </div>
  );
}

type NamesOf<Value> = {
  [Field in keyof SearchDraft]: SearchDraft[Field] extends Value ? Field : never;
}[keyof SearchDraft];
type TextName = Exclude<NamesOf<string>, 'combine'>;
type FlagName = NamesOf<boolean>;

// As many columns as there is room for
const columns = { alignItems: 'start', gridTemplateColumns: 'repeat(auto-fill, minmax(min(240px, 100%), 1fr))' };

const Part = ({ legend, children }: { legend: string; children: ComponentChildren }) => (
  <fieldset class={s.stack} style={columns}>
    <legend>
      <strong>{legend}</strong>
    </legend>
    {children}
  </fieldset>
);

interface KeysProps {
  legend: string;
  hint?: string;
  all: Readonly<Record<string, string>>;
  chosen: readonly string[];
  onChange: (chosen: readonly string[]) => void;
}

/** Check boxes of which any number can be chosen. */
const Keys = ({ legend, hint, all, chosen, onChange }: KeysProps) => (
  <fieldset>
    <legend>
      <strong>{legend}</strong>
    </legend>
    {hint && <p class={s.muted}>{hint}</p>}
    <div class={s.row}>
      {Object.keys(all).map((key) => (
        <CheckField
          key={key}
          label={nameIn(all, key)}
          name={key}
          checked={chosen.includes(key)}
          onChange={(isChosen) => onChange(isChosen ? [...chosen, key] : chosen.filter((other) => other !== key))}
        />
      ))}
    </div>
  </fieldset>
);
