import { useRef, useState } from 'preact/hooks';
import { PortalError } from '@portal/client/portal-error';
import { portal, send } from '../portal.ts';
import type { NewAccount, PlannedRow } from './users-import-plan.ts';
import { runEach } from './users-run.ts';

/** How new accounts get in: by a link in a mail, by a temporary password, or not yet. */
export type Access = 'mail' | 'password' | 'later';

/** What a person should look at comes first. */
export const rowStates = ['failed', 'noPassword', 'waiting', 'created', 'mailed'] as const;

export interface RowState {
  kind: (typeof rowStates)[number];
  /** The account, once it exists. */
  userId?: string;
  password?: string;
  error?: PortalError;
}

/** Creates the accounts of planned rows and remembers what became of each row, also over several attempts. */
export function useImportRun(tenantId: string | undefined) {
  const [phase, setPhase] = useState<'planning' | 'running' | 'ended'>('planning');
  const [rows, setRows] = useState<readonly PlannedRow[]>([]);
  const [states, setStates] = useState<ReadonlyMap<number, RowState>>(new Map());
  const access = useRef<Access>('later');
  const stopping = useRef(new AbortController());

  const work = async (chosen: readonly PlannedRow[], before: ReadonlyMap<number, RowState>) => {
    const next = new Map(before);
    stopping.current = new AbortController();
    setPhase('running');
    await runEach(chosen, {
      signal: stopping.current.signal,
      work: async ({ line, account }) => {
        const state = { ...before.get(line) };
        const mails = access.current === 'mail' && account.email !== null;
        if (state.userId === undefined) {
          state.userId = (await send(() => create(account, mails, tenantId))).id;
          next.set(line, { kind: 'noPassword', userId: state.userId });
        }
        if (mails || access.current === 'later') next.set(line, { ...state, kind: mails ? 'mailed' : 'created' });
        else next.set(line, { ...state, kind: 'created', password: await send(() => passwordOf(state.userId)) });
      },
      onOutcome: ({ line }, outcome) => {
        if ('error' in outcome) {
          const { userId } = next.get(line) ?? {};
          next.set(line, {
            kind: userId === undefined ? 'failed' : 'noPassword',
            ...(userId !== undefined && { userId }),
            ...(outcome.error instanceof PortalError && { error: outcome.error }),
          });
        }
        setStates(new Map(next));
      },
    });
    setPhase('ended');
  };

  return {
    phase,
    rows,
    states,
    stop: () => stopping.current.abort(),
    start: (chosen: readonly PlannedRow[], wanted: Access): Promise<void> => {
      access.current = wanted;
      setRows(chosen);
      return work(chosen, new Map());
    },
    /** Tries the rows that are not done. */
    again: (): Promise<void> => {
      const open = rows.filter(({ line }) => !['created', 'mailed'].includes(states.get(line)?.kind ?? ''));
      const kept = new Map([...states].filter(([, { kind }]) => kind !== 'failed'));
      setStates(kept);
      return work(open, kept);
    },
  };
}

const create = (account: NewAccount, sendWelcomeMail: boolean, tenantId: string | undefined) =>
  portal.post('/users', { body: { ...account, sendWelcomeMail, ...(tenantId !== undefined && { tenantId }) } });

async function passwordOf(id = ''): Promise<string> {
  const { temporaryPassword = '' } = await portal.post('/users/{id}/reset-password', {
    params: { path: { id } },
    body: {},
  });
  return temporaryPassword;
}
