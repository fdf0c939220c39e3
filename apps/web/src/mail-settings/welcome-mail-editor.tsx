import { useState } from 'preact/hooks';
import type { WelcomeMailTemplate } from '@portal/client/interface';
import type { WelcomeMailValues } from '@portal/domain/mail-settings/welcome-mail';
import profile from '../accounts/profile.module.css';
import { portal, queryClient } from '../portal.ts';
import { Button } from '../ui/button.tsx';
import { ConfirmDialog } from '../ui/dialog.tsx';
import { TextField } from '../ui/field.tsx';
import formStyle from '../ui/form.module.css';
import { fieldErrors, Form } from '../ui/form.tsx';
import { Card } from '../ui/page.tsx';
import { showToast } from '../ui/toast.tsx';
import { StoredFormActions, useStoredForm } from '../ui/use-stored-form.tsx';
import { useWelcomePreview, WelcomePreview } from './welcome-preview.tsx';
import { texts } from './welcome-texts.ts';

export const templateKey = ['mail-settings', 'welcome-template'] as const;

type Field = keyof WelcomeMailTemplate;
export type WelcomeDraft = Record<Field, string>;

/** Edits the texts of the welcome mail. */
export function WelcomeMailEditor({ template }: { template: WelcomeMailTemplate }) {
  const t = texts.value;
  const [isResetting, setResetting] = useState(false);
  const form = useStoredForm<WelcomeMailTemplate, WelcomeDraft>({
    row: template,
    draftOf,
    read,
    write: (body) => portal.put('/welcome-mail/template', { body }),
    onSaved: (saved) => {
      queryClient.setQueryData(templateKey, saved);
      showToast(t.saved, { kind: 'success' });
    },
    labels: t.fields,
  });
  const { draft } = form;
  const preview = useWelcomePreview(draft);
  const errors = { ...fieldErrors(preview.error), ...fieldErrors(form.error) };

  const reset = async () => {
    await portal.delete('/welcome-mail/template');
    form.discard();
    queryClient.setQueryData(templateKey, await read());
    showToast(t.wasReset, { kind: 'success' });
  };

  return (
    <div class={profile.cards}>
      <Card title={t.texts}>
        <Form
          label={t.texts}
          onSubmit={form.submit}
          error={form.error}
          actions={
            <StoredFormActions form={form}>
              <Button kind="ghost" onClick={() => setResetting(true)}>
                {t.reset}
              </Button>
            </StoredFormActions>
          }
        >
          <Fields draft={draft} set={form.set} errors={errors} />
        </Form>
      </Card>
      <WelcomePreview draft={draft} preview={preview} />
      {form.question}
      {isResetting && (
        <ConfirmDialog
          title={t.resetTitle}
          confirmLabel={t.resetConfirm}
          danger
          onConfirm={reset}
          onClose={() => setResetting(false)}
        >
          {t.resetText}
        </ConfirmDialog>
      )}
    </div>
  );
}

const read = () => portal.get('/welcome-mail/template');

const draftOf = ({ loginHintDirectory, loginHintLocal, ...rest }: WelcomeMailTemplate): WelcomeDraft => ({
  ...rest,
  loginHintDirectory: loginHintDirectory ?? '',
  loginHintLocal: loginHintLocal ?? '',
});

interface FieldsProps {
  draft: WelcomeDraft;
  set: (field: Field) => (value: string) => void;
  errors: Record<string, string>;
}

const shapes: readonly { field: Field; rows?: number; maxLength: number }[] = [
  { field: 'subject', maxLength: 200 },
  { field: 'heading', maxLength: 10_000 },
  { field: 'intro', rows: 6, maxLength: 10_000 },
  { field: 'loginHintLocal', rows: 3, maxLength: 1_000 },
  { field: 'loginHintDirectory', rows: 3, maxLength: 1_000 },
  { field: 'closing', rows: 4, maxLength: 10_000 },
];

function Fields({ draft, set, errors }: FieldsProps) {
  const t = texts.value;
  // The placeholder goes where the person wrote last.
  const [current, setCurrent] = useState<Field>('intro');
  const hints: Partial<Record<Field, string>> = { loginHintLocal: t.hintLocal, loginHintDirectory: t.hintDirectory };

  return (
    <div
      class={formStyle.form}
      onFocusIn={({ target }) => {
        const focused = shapes.find(({ field }) => target instanceof Element && target.getAttribute('name') === field);
        if (focused) setCurrent(focused.field);
      }}
    >
      <Placeholders field={current} onInsert={(value) => set(current)(value)} />
      {shapes.map(({ field, rows, maxLength }) => (
        <TextField
          key={field}
          label={t.fields[field]}
          name={field}
          value={draft[field]}
          onInput={set(field)}
          multiline={rows !== undefined}
          rows={rows}
          maxLength={maxLength}
          required={hints[field] === undefined}
          hint={hints[field]}
          error={errors[field]}
        />
      ))}
    </div>
  );
}

const placeholders: readonly (keyof WelcomeMailValues)[] = [
  'name',
  'vorname',
  'benutzername',
  'email',
  'adresse',
  'firma',
];

function Placeholders({ field, onInsert }: { field: Field; onInsert: (value: string) => void }) {
  const t = texts.value;
  const insert = (name: string, button: HTMLButtonElement) => {
    const control = button.form?.elements.namedItem(field);
    if (!(control instanceof HTMLInputElement || control instanceof HTMLTextAreaElement)) return;
    const { selectionStart, selectionEnd } = control;
    control.focus();
    control.setRangeText(`{{${name}}}`, selectionStart ?? 0, selectionEnd ?? 0, 'end');
    onInsert(control.value);
  };
  const label = t.placeholders(t.fields[field]);
  return (
    <fieldset class={formStyle.actions}>
      <legend class={profile.legend}>{label}</legend>
      {placeholders.map((name) => (
        <Button
          key={name}
          size="small"
          title={`{{${name}}}`}
          onClick={({ currentTarget }) => insert(name, currentTarget)}
        >
          {t.placeholder[name]}
        </Button>
      ))}
    </fieldset>
  );
}
