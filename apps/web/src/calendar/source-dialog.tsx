import { PlugZap } from 'lucide';
import { useState } from 'preact/hooks';
import type { CalendarSource } from '@portal/client/interface';
import { PortalError } from '@portal/client/portal-error';
import profile from '../accounts/profile.module.css';
import { useMutation } from '../mutation.ts';
import { portal } from '../portal.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { CheckField, RadioGroup, SelectField, SwitchField, TextField } from '../ui/field.tsx';
import { fieldErrors, Form } from '../ui/form.tsx';
import { SecretField } from '../ui/secret-field.tsx';
import { Status } from '../ui/status.tsx';
import { showToast } from '../ui/toast.tsx';
import { refreshCalendar } from './queries.ts';
import { accessOf, bodyOf, draftOf, freeColors, type SourceDraft } from './source-draft.ts';
import { SourceTestResult } from './source-test-result.tsx';
import { texts } from './source-texts.ts';

interface SourceDialogProps {
  /** Undefined for a new one. */
  source?: CalendarSource | undefined;
  all: readonly CalendarSource[];
  onClose: () => void;
}

/** The settings of a calendar. They can be tested before they are saved; the test of a server finds its calendars. */
export function SourceDialog({ source, all, onClose }: SourceDialogProps) {
  const t = texts.value;
  const [opened] = useState(() => draftOf(source, freeColors(all, 1)[0] ?? ''));
  const [draft, setDraft] = useState(opened);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [added, setAdded] = useState<string[]>([]);
  const change = (changed: Partial<SourceDraft>) => setDraft((before) => ({ ...before, ...changed }));

  const test = useMutation({
    mutationFn: async (tested: SourceDraft) => {
      const { kind, url, username, password } = bodyOf(tested);
      const body = { ...(source && { id: source.id }), kind, url, username, password };
      return { of: accessOf(tested), result: await portal.post('/calendar/sources/test', { body }) };
    },
    onMutate: () => {
      save.reset();
      setChosen(new Set());
    },
  });
  const tested = test.data?.of === accessOf(draft) ? test.data.result : null;
  const calendars = tested?.calendars ?? [];

  const save = useMutation({
    mutationFn: async () => {
      const body = bodyOf(draft);
      if (source) {
        await portal.patch('/calendar/sources/{id}', { params: { path: { id: source.id } }, body });
        return 0;
      }
      const picked = calendars.filter(({ url }) => chosen.has(url));
      if (picked.length === 0) {
        await portal.post('/calendar/sources', { body });
        return 1;
      }
      const colors = freeColors(all, picked.length);
      for (const [n, { name, url }] of picked.entries()) {
        const color = n === 0 ? body.color : (colors[n] ?? body.color);
        // Only one: the name that the person gave it counts.
        const ownName = picked.length === 1 && body.name.trim() !== '' ? body.name : name || body.name;
        await portal.post('/calendar/sources', { body: { ...body, name: ownName, url, color } });
        // If a later one is refused, this one is not added again.
        setChosen((before) => new Set([...before].filter((other) => other !== url)));
        setAdded((before) => [...before, ownName]);
      }
      return added.length + picked.length;
    },
    onSuccess: (count) => {
      showToast(source ? t.saved : t.added(count), { kind: 'success' });
      onClose();
    },
    onSettled: refreshCalendar,
  });

  const refusal = save.error ?? test.error;
  const errors = fieldErrors(refusal);
  const mustGiveAgain = refusal instanceof PortalError && refusal.code === 'SECRET_REQUIRED';
  const needsName = chosen.size < 2;
  return (
    <Dialog title={source ? t.editTitle : t.addTitle} onClose={onClose}>
      <Form
        label={source ? t.editTitle : t.addTitle}
        onSubmit={() => {
          // What it found can still be chosen if saving is refused.
          if (test.error) test.reset();
          return save.mutateAsync();
        }}
        error={refusal}
        actions={
          <>
            <Button type="submit" kind="primary" busy={save.isPending}>
              {t.save}
            </Button>
            <Button icon={PlugZap} busy={test.isPending} onClick={() => test.mutate(draft)}>
              {t.test}
            </Button>
            <Button onClick={onClose}>{t.cancel}</Button>
          </>
        }
      >
        <RadioGroup
          legend={t.kind}
          name="kind"
          value={draft.kind}
          onChange={(kind) => change({ kind })}
          options={kinds.map((value) => ({ value, label: t.kinds[value], hint: t.kindHints[value] }))}
        />
        <TextField
          label={t.url[draft.kind]}
          name="url"
          required
          value={draft.url}
          onInput={(url) => change({ url })}
          autocomplete="off"
          hint={source?.kind === 'ics' && draft.url === source.url ? t.urlStored : t.urlHints[draft.kind]}
          error={errors['url']}
        />
        <div class={profile.columns}>
          <TextField
            label={t.username}
            name="username"
            value={draft.username}
            onInput={(username) => change({ username })}
            autocomplete="off"
            hint={draft.kind === 'ics' && t.usernameHint}
            error={errors['username']}
          />
          {draft.username.trim() !== '' && (
            <SecretField
              label={t.password}
              name="password"
              value={draft.password}
              onInput={(password) => change({ password })}
              isStored={source?.hasPassword ?? false}
              mustGiveAgain={mustGiveAgain}
              hint={!source?.hasPassword && t.passwordHint}
              // The field has plainer words for this than the service.
              error={mustGiveAgain ? undefined : errors['password']}
            />
          )}
        </div>
        <div role="status">{tested && <SourceTestResult result={tested} />}</div>
        {calendars.length > 0 && !source && (
          <fieldset>
            <legend class={profile.legend}>{t.choose}</legend>
            <p class={profile.note}>{t.chooseHint}</p>
            {calendars.map(({ name, url }) => (
              <CheckField
                key={url}
                label={name || url}
                name="calendar"
                checked={chosen.has(url)}
                onChange={(isChosen) => {
                  const next = new Set(chosen);
                  if (isChosen) next.add(url);
                  else next.delete(url);
                  setChosen(next);
                }}
              />
            ))}
          </fieldset>
        )}
        {calendars.length > 0 && source && (
          <SelectField
            label={t.chooseOne}
            name="calendar"
            value=""
            onChange={(url) => url && change({ url })}
            options={[
              { value: '', label: t.wholeServer },
              ...calendars.map(({ name, url }) => ({ value: url, label: name || url })),
            ]}
          />
        )}
        {needsName && (
          <TextField
            label={t.name}
            name="name"
            required={chosen.size === 0}
            maxLength={200}
            value={draft.name}
            onInput={(name) => change({ name })}
            error={errors['name']}
          />
        )}
        <TextField
          type="color"
          label={t.color}
          name="color"
          value={draft.color}
          onInput={(color) => change({ color })}
          error={errors['color']}
        />
        {source && (
          <SwitchField
            label={t.active}
            name="isActive"
            checked={draft.isActive}
            onChange={(isActive) => change({ isActive })}
          />
        )}
        {save.error && added.length > 0 && <Status kind="warning">{t.notAll(added.join(', '))}</Status>}
      </Form>
    </Dialog>
  );
}

const kinds = ['ics', 'caldav'] as const;
