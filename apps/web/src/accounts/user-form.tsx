import { useEffect, useState } from 'preact/hooks';
import type { User } from '@portal/client/interface';
import { useMutation } from '../mutation.ts';
import { portal } from '../portal.ts';
import { me } from '../session.ts';
import { Button } from '../ui/button.tsx';
import { ChangedMeanwhileDialog } from '../ui/changed-meanwhile.tsx';
import { Form } from '../ui/form.tsx';
import { showToast } from '../ui/toast.tsx';
import { useUnsavedChanges } from '../ui/unsaved.ts';
import { changeOf, differingFields, draftOf, mergeDraft, pick, type UserDraft } from './user-draft.ts';
import { UserFields } from './user-fields.tsx';
import { texts } from './user-texts.ts';
import { assignableRoles, type Role, words } from './user-words.ts';
import { keepUser, readUser, refreshUsers } from './users-queries.ts';

interface Conflict {
  opened: UserDraft;
  draft: UserDraft;
  fields: (keyof UserDraft)[];
}

/** What can be changed of an account. Sends only what was changed. */
export function UserForm({ user }: { user: User }) {
  const t = texts.value;
  const [opened, setOpened] = useState(() => draftOf(user));
  const [draft, setDraft] = useState(opened);
  const [conflict, setConflict] = useState<Conflict | null>(null);
  const isDirty = differingFields(opened, draft).length > 0;
  useUnsavedChanges(isDirty);

  const show = (saved: UserDraft) => {
    setOpened(saved);
    setDraft(saved);
  };
  // A newer state of the account replaces what nobody has touched.
  useEffect(() => {
    const now = draftOf(user);
    if (!isDirty && differingFields(opened, now).length > 0) show(now);
  }, [user]);

  const save = useMutation({
    /** `from` is what the account has now. */
    mutationFn: async ({ from, to }: { from: UserDraft; to: UserDraft }) =>
      portal.patch('/users/{id}', {
        params: { path: { id: user.id } },
        body: changeOf(to, differingFields(from, to)),
      }),
    onSuccess: (saved) => {
      keepUser(saved);
      show(draftOf(saved));
      setConflict(null);
      showToast(t.saved, { kind: 'success' });
    },
    onError: () => setConflict(null),
    onSettled: () => refreshUsers(),
  });
  const read = useMutation({ mutationFn: () => readUser(user.id) });

  const submit = async () => {
    save.reset();
    const theirs = draftOf(await read.mutateAsync());
    const merged = mergeDraft(opened, draft, theirs);
    if (merged.conflicts.length > 0) {
      setConflict({ opened: theirs, draft: merged.draft, fields: merged.conflicts });
      return;
    }
    await save.mutateAsync({ from: theirs, to: merged.draft });
  };
  const error = read.error ?? save.error;

  return (
    <>
      <Form
        onSubmit={submit}
        error={error}
        label={t.formTitle}
        actions={
          <>
            <Button type="submit" kind="primary" busy={read.isPending || save.isPending}>
              {t.save}
            </Button>
            {isDirty && <Button onClick={() => setDraft(opened)}>{t.discard}</Button>}
          </>
        }
      >
        <UserFields draft={draft} onChange={setDraft} error={error} {...limitsOf(user, draft, opened)} />
      </Form>
      {conflict && (
        <ChangedMeanwhileDialog
          changes={conflict.fields.map((field) => ({
            label: words.value[field],
            theirs: valueText(conflict.opened, field),
            mine: valueText(conflict.draft, field),
          }))}
          onKeepMine={() => save.mutate({ from: conflict.opened, to: conflict.draft })}
          onTakeTheirs={() => {
            setOpened(conflict.opened);
            setDraft({ ...conflict.draft, ...pick(conflict.opened, conflict.fields) });
            setConflict(null);
          }}
          onClose={() => setConflict(null)}
        />
      )}
    </>
  );
}

function valueText(draft: UserDraft, field: keyof UserDraft): string {
  const w = words.value;
  if (field === 'role') return w.roles[draft.role];
  if (field === 'mustChangePassword') return draft.mustChangePassword ? w.yes : w.no;
  return draft[field];
}

/** What the API refuses for this account, and why. */
function limitsOf(user: User, draft: UserDraft, opened: UserDraft) {
  const t = texts.value;
  const isOwn = user.id === me.value?.id;
  const isManaged = user.source === 'directory';
  const roles: Role[] = isOwn ? [user.role] : assignableRoles();
  const noSuper = isManaged && user.role !== 'SUPER_ADMIN' && roles.includes('SUPER_ADMIN');
  return {
    isManaged,
    roles: noSuper ? roles.filter((role) => role !== 'SUPER_ADMIN') : roles,
    roleNote: isOwn ? t.ownRole : noSuper ? t.directoryNoSuperAdmin : undefined,
    emailNote: isOwn ? t.ownEmail : undefined,
    emailHint: opened.email !== '' && draft.email !== opened.email ? t.emailChanges : undefined,
  };
}
