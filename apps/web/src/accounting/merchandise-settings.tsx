import type { MerchandiseSettings } from '@portal/client/interface';
import profile from '../accounts/profile.module.css';
import { language } from '../language.ts';
import { portal, queryClient } from '../portal.ts';
import { RadioGroup, SelectField, TextField } from '../ui/field.tsx';
import { fieldErrors, Form } from '../ui/form.tsx';
import { Card } from '../ui/page.tsx';
import { showToast } from '../ui/toast.tsx';
import { StoredFormActions, useStoredForm } from '../ui/use-stored-form.tsx';
import { texts } from './merchandise-texts.ts';
import { merchandiseKey, readMerchandiseSettings } from './queries.ts';
import { shared } from './shared-texts.ts';

type Separator = MerchandiseSettings['separator'];

export function MerchandiseSettingsCard({ stored }: { stored: MerchandiseSettings }) {
  const t = texts.value;
  const w = shared.value;
  const form = useStoredForm<MerchandiseSettings, MerchandiseSettings>({
    row: stored,
    draftOf: ({ format, separator, defaultContraAccount, beraternummer, mandantennummer, fiscalYearStart }) => ({
      format,
      separator,
      defaultContraAccount,
      beraternummer,
      mandantennummer,
      fiscalYearStart,
    }),
    read: readMerchandiseSettings,
    write: (body) => portal.put('/accounting/merchandise/settings', { body }),
    onSaved: (saved) => {
      queryClient.setQueryData(merchandiseKey, saved);
      showToast(w.saved, { kind: 'success' });
    },
    labels: {
      format: t.format,
      separator: t.separator,
      defaultContraAccount: t.contra,
      beraternummer: w.beraternummer,
      mandantennummer: w.mandantennummer,
      fiscalYearStart: t.fiscalYear,
    },
    words: (field, draft) => {
      if (field === 'format') return t.formats[draft.format];
      if (field === 'separator') return t.separators[draft.separator];
      return field === 'fiscalYearStart' ? dayName(draft.fiscalYearStart) : draft[field];
    },
  });
  const { draft, set } = form;
  const errors = fieldErrors(form.error);
  const text = (field: 'defaultContraAccount' | 'beraternummer' | 'mandantennummer', label: string, hint?: string) => (
    <TextField
      label={label}
      name={field}
      autocomplete="off"
      required={draft.format === 'extf'}
      value={draft[field]}
      onInput={set(field)}
      hint={hint}
      error={errors[field]}
    />
  );
  return (
    <Card title={w.settings}>
      <Form label={w.settings} onSubmit={form.submit} error={form.error} actions={<StoredFormActions form={form} />}>
        <RadioGroup
          legend={t.format}
          name="format"
          value={draft.format}
          onChange={set('format')}
          options={(['txt', 'extf'] as const).map((value) => ({
            value,
            label: t.formats[value],
            hint: t.formatHints[value],
          }))}
        />
        {draft.format === 'txt' ? (
          <SelectField
            label={t.separator}
            name="separator"
            value={draft.separator}
            onChange={(value) => set('separator')(value as Separator)}
            options={separators.map((value) => ({ value, label: t.separators[value] }))}
          />
        ) : (
          <>
            <p class={profile.note}>{w.fromTaxOffice}</p>
            <div class={profile.columns}>
              {text('defaultContraAccount', t.contra, t.contraHint)}
              {text('beraternummer', w.beraternummer)}
              {text('mandantennummer', w.mandantennummer)}
              <SelectField
                label={t.fiscalYear}
                name="fiscalYearStart"
                value={draft.fiscalYearStart}
                onChange={set('fiscalYearStart')}
                options={yearStarts(stored.fiscalYearStart).map((value) => ({ value, label: dayName(value) }))}
                error={errors['fiscalYearStart']}
              />
            </div>
          </>
        )}
      </Form>
      {form.question}
    </Card>
  );
}

const separators: Separator[] = [';', '\t', '|'];

/** Fiscal years begin with a month. Another day that is stored stays. */
function yearStarts(stored: string): string[] {
  const firsts = Array.from({ length: 12 }, (_, month) => `${String(month + 1).padStart(2, '0')}-01`);
  return firsts.includes(stored) ? firsts : [...firsts, stored];
}

const formats = {
  de: new Intl.DateTimeFormat('de-DE', { day: 'numeric', month: 'long', timeZone: 'UTC' }),
  en: new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'long', timeZone: 'UTC' }),
};

/** `01-01` as “1. Januar” */
const dayName = (day: string): string => formats[language.value].format(new Date(`2001-${day}T00:00:00Z`));
