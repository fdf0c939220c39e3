import type { CanteenSettings } from '@portal/client/interface';
import profile from '../accounts/profile.module.css';
import { portal, queryClient } from '../portal.ts';
import { RadioGroup, TextField } from '../ui/field.tsx';
import { fieldErrors, Form } from '../ui/form.tsx';
import { Card } from '../ui/page.tsx';
import { showToast } from '../ui/toast.tsx';
import { StoredFormActions, useStoredForm } from '../ui/use-stored-form.tsx';
import { texts } from './canteen-texts.ts';
import { canteenKey, readCanteenSettings } from './queries.ts';
import { shared } from './shared-texts.ts';

export function CanteenSettingsCard({ stored }: { stored: CanteenSettings }) {
  const t = texts.value;
  const w = shared.value;
  const form = useStoredForm<CanteenSettings, CanteenSettings>({
    row: stored,
    draftOf: ({ beraternummer, mandantennummer, lohnart, target, sign }) => ({
      beraternummer,
      mandantennummer,
      lohnart,
      target,
      sign,
    }),
    read: readCanteenSettings,
    write: (body) => portal.put('/accounting/canteen/settings', { body }),
    onSaved: (saved) => {
      queryClient.setQueryData(canteenKey, saved);
      showToast(w.saved, { kind: 'success' });
    },
    labels: {
      beraternummer: w.beraternummer,
      mandantennummer: w.mandantennummer,
      lohnart: t.lohnart,
      target: t.target,
      sign: t.sign,
    },
    words: (field, draft) =>
      field === 'target' ? t.targets[draft.target] : field === 'sign' ? t.signs[draft.sign] : draft[field],
  });
  const { draft, set } = form;
  const errors = fieldErrors(form.error);
  return (
    <Card title={w.settings}>
      <Form label={w.settings} onSubmit={form.submit} error={form.error} actions={<StoredFormActions form={form} />}>
        <p class={profile.note}>{w.fromTaxOffice}</p>
        <div class={profile.columns}>
          <TextField
            label={w.beraternummer}
            name="beraternummer"
            autocomplete="off"
            value={draft.beraternummer}
            onInput={set('beraternummer')}
            error={errors['beraternummer']}
          />
          <TextField
            label={w.mandantennummer}
            name="mandantennummer"
            autocomplete="off"
            value={draft.mandantennummer}
            onInput={set('mandantennummer')}
            error={errors['mandantennummer']}
          />
          <TextField
            label={t.lohnart}
            name="lohnart"
            autocomplete="off"
            value={draft.lohnart}
            onInput={set('lohnart')}
            hint={t.lohnartHint}
            error={errors['lohnart']}
          />
        </div>
        <RadioGroup
          legend={t.target}
          name="target"
          value={draft.target}
          onChange={set('target')}
          options={(['lodas', 'lohn-und-gehalt'] as const).map((value) => ({ value, label: t.targets[value] }))}
        />
        <RadioGroup
          legend={t.sign}
          name="sign"
          value={draft.sign}
          onChange={set('sign')}
          options={(['minus', 'plus'] as const).map((value) => ({ value, label: t.signs[value] }))}
          hint={t.signHint}
        />
      </Form>
      {form.question}
    </Card>
  );
}
