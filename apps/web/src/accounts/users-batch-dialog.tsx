import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { User } from '@portal/client/interface';
import { portal, send } from '../portal.ts';
import { me } from '../session.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { SelectField } from '../ui/field.tsx';
import { Form } from '../ui/form.tsx';
import { Progress } from '../ui/states.tsx';
import { Status } from '../ui/status.tsx';
import { showToast } from '../ui/toast.tsx';
import { assignableRoles, nameOf, namedInText, type Role, words } from './user-words.ts';
import { keepUser, refreshUsers, useMailStatus } from './users-queries.ts';
import { Refusal } from './users-refusal.tsx';
import { type Outcome, runEach } from './users-run.ts';
import { texts } from './users-texts.ts';
import s from './users.module.css';

export type BatchAction = 'activate' | 'deactivate' | 'role' | 'endSessions' | 'welcomeMail' | 'delete';

interface BatchDialogProps {
  action: BatchAction;
  users: readonly User[];
  /** Told once the run has ended. */
  onDone?: ((done: readonly User[]) => void) | undefined;
  onClose: () => void;
}

/** Asks once about all these accounts, does it to each in turn, and says which ones stayed as they were. */
export function BatchDialog({ action, users, onDone, onClose }: BatchDialogProps) {
  const t = texts.value;
  const words = t.action[action];
  const [role, setRole] = useState<Role>(users.length === 1 ? (users[0]?.role ?? 'USER') : 'USER');
  const run = useRun((user) => apply(action, user, role));
  const { outcomes, state } = run;
  const body = useRef<HTMLDivElement>(null);
  // The pressed button has gone.
  useLayoutEffect(() => {
    if (state !== 'asking') body.current?.focus();
  }, [state]);

  const start = async (chosen: readonly User[]) => {
    const ended = await run.start(lastOwn(chosen));
    const done = users.filter((user) => isDone(ended.get(user.id)));
    refreshUsers(action === 'delete' ? done.map(({ id }) => id) : []);
    onDone?.(done);
    if (done.length < users.length) return;
    showToast(capitalized(words.done(describe(users))), { kind: 'success' });
    onClose();
  };

  if (state === 'asking') {
    return (
      <Question action={action} users={users} onConfirm={() => void start(users)} onClose={onClose}>
        {action === 'role' && <RoleField role={role} onChange={setRole} />}
      </Question>
    );
  }
  const failed = users.filter(({ id }) => outcomes.has(id) && !isDone(outcomes.get(id)));
  const waiting = users.filter(({ id }) => !outcomes.has(id));
  const done = users.length - failed.length - waiting.length;
  const isRunning = state === 'running';
  return (
    <Dialog
      title={`${words.label}: ${describe(users)}`}
      onClose={isRunning ? run.stop : onClose}
      actions={
        isRunning ? (
          <Button onClick={run.stop}>{t.stop}</Button>
        ) : (
          <>
            <Button kind="primary" onClick={onClose}>
              {t.close}
            </Button>
            <Button onClick={() => void start([...failed, ...waiting])}>{t.again}</Button>
          </>
        )
      }
    >
      <div ref={body} class={s.stack} tabIndex={-1} role="status">
        {isRunning ? (
          <Progress label={words.running} value={outcomes.size} max={users.length} />
        ) : (
          <>
            {done > 0 && <Status kind="ok">{capitalized(words.done(t.accounts(done)))}</Status>}
            {failed.length > 0 && <Status kind="error">{t.failed(failed.length)}</Status>}
            <ul>
              {failed.map((user) => (
                <li key={user.id}>
                  <bdi>{nameOf(user)}</bdi>: <Reason outcome={outcomes.get(user.id)} />
                </li>
              ))}
            </ul>
            {waiting.length > 0 && <Status kind="unknown">{t.notBegun(waiting.length)}</Status>}
          </>
        )}
      </div>
    </Dialog>
  );
}

interface QuestionProps {
  action: BatchAction;
  users: readonly User[];
  onConfirm: () => void;
  onClose: () => void;
  children: ComponentChildren;
}

function Question({ action, users, onConfirm, onClose, children }: QuestionProps) {
  const t = texts.value;
  const words = t.action[action];
  const { data: mail } = useMailStatus(action === 'welcomeMail');
  const isImpossible = action === 'welcomeMail' && mail?.available === false;
  const hasDirectory = users.some(({ source }) => source === 'directory');
  const withoutAddress = users.filter(({ email }) => email === null).length;
  return (
    <Dialog title={capitalized(words.title(describe(users)))} size="small" onClose={onClose} isSafeToClose>
      <Form
        onSubmit={() => {
          if (!isImpossible) onConfirm();
        }}
        actions={
          <>
            <Button type="submit" kind={action === 'delete' ? 'danger' : 'primary'} disabled={isImpossible}>
              {words.label}
            </Button>
            <Button autofocus={action !== 'role'} onClick={onClose}>
              {t.cancel}
            </Button>
          </>
        }
      >
        <div class={s.stack}>
          <Names users={users} />
          <p>{words.text}</p>
          {users.some(({ id }) => id === me.value?.id) && users.length > 1 && (
            <Status kind="warning">{t.ownIncluded}</Status>
          )}
          {hasDirectory && action === 'delete' && <p>{t.directoryReturns}</p>}
          {hasDirectory && action === 'deactivate' && <p>{t.directoryStaysOff}</p>}
          {action === 'welcomeMail' && withoutAddress > 0 && (
            <Status kind="warning">{t.withoutAddress(withoutAddress)}</Status>
          )}
          {isImpossible && (
            <p>
              {t.noMailServer} <a href="/app/admin/mail">{t.toMailSettings}</a>
            </p>
          )}
        </div>
        {children}
      </Form>
    </Dialog>
  );
}

const namesAtOnce = 10;

/** All of them can be read; the first ones need no click. */
function Names({ users }: { users: readonly User[] }) {
  const names = users.map(fullName);
  const others = names.slice(namesAtOnce);
  return (
    <div class={s.names}>
      <p>{names.slice(0, namesAtOnce).join(', ')}</p>
      {others.length > 0 && (
        <details>
          <summary>{texts.value.others(others.length)}</summary>
          {others.join(', ')}
        </details>
      )}
    </div>
  );
}

/** With the username, since names occur twice. */
function fullName(user: User): string {
  const name = nameOf(user);
  return `\u2068${name === user.username ? name : `${name} (${user.username})`}\u2069`;
}

interface RoleFieldProps {
  role: Role;
  onChange: (role: Role) => void;
}

const RoleField = ({ role, onChange }: RoleFieldProps) => (
  <SelectField
    label={texts.value.newRole}
    name="role"
    value={role}
    onChange={(value) => onChange(value as Role)}
    options={assignableRoles().map((value) => ({ value, label: words.value.roles[value] }))}
  />
);

function Reason({ outcome }: { outcome: Outcome<Applied> | undefined }) {
  if (!outcome) return null;
  return 'error' in outcome ? <Refusal error={outcome.error} /> : <>{texts.value.mailPending}</>;
}

type Applied = 'done' | 'pending';

const isDone = (outcome: Outcome<Applied> | undefined): boolean =>
  outcome !== undefined && 'result' in outcome && outcome.result === 'done';

/** The calls that an action means for one account. */
async function apply(action: BatchAction, { id }: User, role: Role): Promise<Applied> {
  const params = { path: { id } };
  const change = async (body: { isActive: boolean } | { role: Role }) =>
    keepUser(await portal.patch('/users/{id}', { params, body }));
  switch (action) {
    case 'activate':
    case 'deactivate':
      await change({ isActive: action === 'activate' });
      break;
    case 'role':
      await change({ role });
      break;
    case 'endSessions':
      await portal.post('/users/{id}/logout-all', { params });
      break;
    case 'delete':
      await portal.delete('/users/{id}', { params });
      break;
    case 'welcomeMail':
      return (await portal.post('/users/{id}/welcome-mail', { params })).sent ? 'done' : 'pending';
  }
  return 'done';
}

type Outcomes = ReadonlyMap<string, Outcome<Applied>>;

/** Remembers what became of each account, also over several attempts. */
function useRun(work: (user: User) => Promise<Applied>) {
  const [state, setState] = useState<'asking' | 'running' | 'ended'>('asking');
  const [outcomes, setOutcomes] = useState<Outcomes>(new Map());
  const stopping = useRef(new AbortController());
  const start = async (users: readonly User[]): Promise<Outcomes> => {
    const ids = new Set(users.map(({ id }) => id));
    const next = new Map([...outcomes].filter(([id]) => !ids.has(id)));
    stopping.current = new AbortController();
    setOutcomes(new Map(next));
    setState('running');
    await runEach(users, {
      work: (user) => send(() => work(user)),
      signal: stopping.current.signal,
      onOutcome: ({ id }, outcome) => {
        next.set(id, outcome);
        setOutcomes(new Map(next));
      },
    });
    setState('ended');
    return next;
  };
  return { state, outcomes, start, stop: () => stopping.current.abort() };
}

/** The own account comes last: its sessions may end, and with them the run. */
const lastOwn = (users: readonly User[]): User[] =>
  users.toSorted((a, b) => Number(a.id === me.value?.id) - Number(b.id === me.value?.id));

function describe(users: readonly User[]): string {
  const [first] = users;
  return first && users.length === 1 ? texts.value.account(namedInText(first)) : texts.value.accounts(users.length);
}

const capitalized = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);
