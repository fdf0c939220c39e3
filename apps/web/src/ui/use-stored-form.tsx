import { PlugZap } from 'lucide';
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useState } from 'preact/hooks';
import { useMutation } from '../mutation.ts';
import { Button } from './button.tsx';
import { changedSince, ChangedMeanwhileDialog } from './changed-meanwhile.tsx';
import { texts } from './form-texts.ts';
import { texts as uiTexts } from './texts.ts';
import { useUnsavedChanges } from './unsaved.ts';

interface Options<Row, Draft extends object> {
  /** What the service answered last. */
  row: Row;
  /** The fields as a person edits them. */
  draftOf: (row: Row) => Draft;
  /** Reads the row again, to see whether another administrator saved it meanwhile. */
  read: () => Promise<Row>;
  write: (draft: Draft) => Promise<Row>;
  onSaved: (row: Row) => void;
  labels: Readonly<Record<keyof Draft, string>>;
  /** The value of a field in words. */
  words?: ((field: keyof Draft, draft: Draft) => string) | undefined;
}

/** A form for settings that several administrators may edit at once. */
export function useStoredForm<Row, Draft extends object>(options: Options<Row, Draft>) {
  const { row, draftOf, read, write, onSaved, labels, words = plainWords } = options;
  const [opened, setOpened] = useState(() => draftOf(row));
  const [draft, setDraft] = useState(opened);
  const [theirs, setTheirs] = useState<Draft | null>(null);
  const fields = Object.keys(labels) as (keyof Draft)[];
  const isDirty = changedSince(opened, draft, fields).length > 0;
  useUnsavedChanges(isDirty);

  const adopt = (saved: Row) => {
    const fresh = draftOf(saved);
    setOpened(fresh);
    setDraft(fresh);
  };
  // What others save appears as long as nothing is typed. Not after the frame, within which something may be typed.
  useLayoutEffect(() => {
    if (!isDirty) adopt(row);
  }, [row]);

  /** What another administrator saved, and this person would overwrite. */
  const conflicts = (now: Draft, mine: Draft, before: Draft) =>
    changedSince(before, now, changedSince(mine, now, fields));
  const save = useMutation({
    mutationFn: async ({ mine, before }: { mine: Draft; before: Draft | null }) => {
      if (before) {
        const now = draftOf(await read());
        if (conflicts(now, mine, before).length > 0) return { theirs: now };
      }
      return { saved: await write(mine) };
    },
    onSuccess: (outcome) => {
      if ('theirs' in outcome) {
        setTheirs(outcome.theirs);
        return;
      }
      adopt(outcome.saved);
      onSaved(outcome.saved);
    },
  });
  const open = theirs ? conflicts(theirs, draft, opened) : [];

  return {
    draft,
    isDirty,
    /** The refusal of the last attempt. */
    error: save.error,
    isSaving: save.isPending,
    forgetError: save.reset,
    set<Field extends keyof Draft>(field: Field) {
      return (value: Draft[Field]) => setDraft((before) => ({ ...before, [field]: value }));
    },
    change: (fields: Partial<Draft>) => setDraft((before) => ({ ...before, ...fields })),
    /** Saves, unless another administrator changed something meanwhile: then the person decides. */
    submit: () => save.mutateAsync({ mine: draft, before: opened }),
    discard() {
      setDraft(opened);
      save.reset();
    },
    /** The question whose changes count; null while there is none. */
    question: theirs && (
      <ChangedMeanwhileDialog
        changes={open.map((field) => ({
          label: labels[field],
          theirs: words(field, theirs),
          mine: words(field, draft),
        }))}
        onKeepMine={() => {
          setTheirs(null);
          setOpened(theirs);
          save.mutate({ mine: draft, before: null });
        }}
        onTakeTheirs={() => {
          setTheirs(null);
          setOpened(theirs);
          setDraft((mine) => ({ ...mine, ...pick(theirs, open) }));
        }}
        onClose={() => setTheirs(null)}
      />
    ),
  };
}

interface StoredFormActionsProps {
  form: Pick<ReturnType<typeof useStoredForm>, 'isSaving' | 'isDirty' | 'discard'>;
  /** Tries what stands in the form, also before it is saved. */
  test?: { label: string; isBusy: boolean; run: () => void };
  /** Leaves the form, instead of discarding what was changed. */
  onCancel?: (() => void) | undefined;
  /** What else can be done with what is stored. */
  children?: ComponentChildren;
}

/** What can be done with such a form. */
export function StoredFormActions({ form, test, onCancel, children }: StoredFormActionsProps) {
  const t = texts.value;
  return (
    <>
      <Button type="submit" kind="primary" busy={form.isSaving}>
        {t.save}
      </Button>
      {test && (
        <Button icon={PlugZap} busy={test.isBusy} onClick={test.run}>
          {test.label}
        </Button>
      )}
      {onCancel && <Button onClick={onCancel}>{uiTexts.value.cancel}</Button>}
      {!onCancel && form.isDirty && <Button onClick={form.discard}>{t.discard}</Button>}
      {children}
    </>
  );
}

const plainWords = <Draft extends object>(field: keyof Draft, draft: Draft): string => String(draft[field] ?? '');

const pick = <Draft extends object>(from: Draft, fields: readonly (keyof Draft)[]): Partial<Draft> =>
  Object.fromEntries(fields.map((field) => [field, from[field]])) as Partial<Draft>;
