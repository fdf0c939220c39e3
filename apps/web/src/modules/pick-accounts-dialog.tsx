import { useQuery } from '@tanstack/preact-query';
import { X } from 'lucide';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { User } from '@portal/client/interface';
import { PortalError } from '@portal/client/portal-error';
import { useMutation } from '../mutation.ts';
import { queryClient } from '../portal.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { CheckField, TextField } from '../ui/field.tsx';
import { Form } from '../ui/form.tsx';
import { QueryView, Skeleton } from '../ui/states.tsx';
import { useUnsavedChanges } from '../ui/unsaved.ts';
import { VisuallyHidden } from '../ui/visually-hidden.tsx';
import s from './administration.module.css';
import { texts } from './pick-accounts-texts.ts';
import { accountsQuery } from './queries.ts';

interface PickAccountsDialogProps {
  title: string;
  submitLabel: (count: number) => string;
  /** Accounts that cannot be picked, and why. */
  taken: ReadonlySet<string>;
  takenHint: string;
  /** Closes the dialog unless it fails. */
  onSubmit: (accounts: User[]) => Promise<unknown> | void;
  onClose: () => void;
}

const pauseMs = 200;

/**
 * Searches accounts and picks several. By keyboard: type, Enter takes the first match and empties the field for the next name; the arrow
 * keys lead into the matches.
 */
export function PickAccountsDialog({
  title,
  submitLabel,
  taken,
  takenHint,
  onSubmit,
  onClose,
}: PickAccountsDialogProps) {
  const t = texts.value;
  const [text, setText] = useState('');
  const typed = text.trim();
  const search = useSettled(typed);
  const [picked, setPicked] = useState<readonly User[]>([]);
  const [news, setNews] = useState('');
  const box = useRef<HTMLDivElement>(null);
  const found = useQuery(accountsQuery(search));
  const save = useMutation({
    mutationFn: async (accounts: readonly User[]) => onSubmit([...accounts]),
    onSuccess: onClose,
  });
  useUnsavedChanges(picked.length > 0);
  const isPicked = (account: User) => picked.some(({ id }) => id === account.id);

  const pick = (account: User, isWanted: boolean) => {
    setPicked((before) => [...before.filter(({ id }) => id !== account.id), ...(isWanted ? [account] : [])]);
    setNews(isWanted ? t.picked(nameOf(account)) : t.unpicked(nameOf(account)));
  };
  const pickFirst = async () => {
    if (typed === '') return;
    const { items } = await queryClient.fetchQuery({ ...accountsQuery(typed), staleTime: 10_000 });
    const first = items.find((account) => !taken.has(account.id) && !isPicked(account));
    if (!first) return setNews(t.noneLeft);
    pick(first, true);
    setText('');
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const boxes = [...(box.current?.querySelectorAll<HTMLElement>('input:enabled') ?? [])];
    const current = boxes.findIndex((one) => one === document.activeElement);
    if (event.key === 'Enter' && current !== -1) {
      // It would send the form.
      event.preventDefault();
      if (current === 0) void pickFirst().catch(() => undefined);
      else boxes[current]?.click();
    } else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      event.preventDefault();
      boxes[current + (event.key === 'ArrowDown' ? 1 : -1)]?.focus();
    }
  };
  const submit = async () => {
    if (picked.length > 0) return save.mutateAsync(picked);
    setNews(t.pickFirst);
    box.current?.querySelector('input')?.focus();
    return undefined;
  };

  return (
    <Dialog title={title} onClose={onClose}>
      <Form
        onSubmit={submit}
        error={save.error}
        actions={
          <>
            <Button type="submit" kind="primary" busy={save.isPending}>
              {submitLabel(picked.length)}
            </Button>
            <Button onClick={onClose}>{t.cancel}</Button>
          </>
        }
      >
        <div ref={box} class={s.stack} role="presentation" onKeyDown={onKeyDown}>
          <TextField
            label={t.search}
            name="search"
            type="search"
            hint={t.searchHint}
            autocomplete="off"
            autofocus
            value={text}
            onInput={setText}
          />
          {/* The matches of an earlier text would invite to pick the wrong account. */}
          {typed !== search && <Skeleton />}
          {typed === search && (
            <QueryView query={found} empty={({ items }) => items.length === 0} emptyState={<p>{t.noMatch}</p>}>
              {({ items, nextCursor }) => (
                <fieldset class={s.choices} aria-label={t.matches}>
                  {items.map((account) => (
                    <CheckField
                      key={account.id}
                      name={account.id}
                      label={<bdi>{nameOf(account)}</bdi>}
                      hint={hintOf(account, taken.has(account.id) ? takenHint : null)}
                      checked={taken.has(account.id) || isPicked(account)}
                      disabled={taken.has(account.id)}
                      onChange={(isWanted) => pick(account, isWanted)}
                    />
                  ))}
                  {nextCursor !== null && <p>{t.more(items.length)}</p>}
                </fieldset>
              )}
            </QueryView>
          )}
        </div>
        {picked.length > 0 && (
          <div class={s.row} role="group" aria-label={t.chosen}>
            {picked.map((account) => (
              <Button
                key={account.id}
                size="small"
                icon={X}
                aria-label={t.remove(nameOf(account))}
                onClick={() => {
                  pick(account, false);
                  box.current?.querySelector('input')?.focus();
                }}
              >
                <bdi>{nameOf(account)}</bdi>
              </Button>
            ))}
          </div>
        )}
        {isGone(save.error) && <p>{t.gone}</p>}
        <VisuallyHidden>
          <span role="status">{news}</span>
        </VisuallyHidden>
      </Form>
    </Dialog>
  );
}

/** The name by which people know an account. */
export const nameOf = ({ displayName, username }: { displayName: string | null; username: string }): string =>
  displayName ?? username;

function hintOf({ displayName, username, email, isActive }: User, taken: string | null): string {
  return [displayName && username, email, !isActive && texts.value.inactive, taken].filter(Boolean).join(' · ');
}

const isGone = (error: unknown) => error instanceof PortalError && error.code === 'NOT_FOUND';

/** The text once nobody has typed for a moment. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), pauseMs);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}
