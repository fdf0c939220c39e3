import { signal } from '@preact/signals';
import { useInfiniteQuery, useQuery } from '@tanstack/preact-query';
import type { CloudInstance, CloudOverview } from '@portal/client/interface';
import { PortalError } from '@portal/client/portal-error';
import { cloudOverviewQuery, cloudsQuery } from '../dashboards/widgets/clouds-query.ts';
import { usePolled } from '../polling.ts';
import { portal, queryClient, send } from '../portal.ts';
import { showToast } from '../ui/toast.tsx';
import { lightWord } from './cloud-words.ts';
import { texts } from './texts.ts';

const intervalMs = 60_000;

/** All clouds of the tenant, by name. The service has no route for a single one. */
export const useClouds = (enabled = true) => usePolled({ ...cloudsQuery, intervalMs, enabled });

const hasAll = (): boolean => queryClient.getQueryData(cloudsQuery.queryKey) !== undefined;

/** The worst clouds and the number of all. All are read only if they are wanted: thousands have megabytes, and take seconds on a slow device. */
export function useCloudList(wantsAll: boolean) {
  const all = useClouds(wantsAll || hasAll());
  const overview = usePolled({ ...cloudOverviewQuery, intervalMs, enabled: !hasAll() });
  return { overview, all };
}

/** Reads the overview before a component asks for it. Never rejects. */
export const readOverviewAhead = async (): Promise<void> => {
  if (!hasAll()) await queryClient.prefetchQuery(cloudOverviewQuery);
};

/** Why mails do not reach the account; null if they do, or if that is not known. */
export const useMailTrouble = (enabled: boolean) =>
  useQuery({
    queryKey: ['reminders', 'email-status'],
    queryFn: ({ signal }) => portal.get('/reminders/email-status', { signal }),
    enabled,
  }).data?.reason ?? null;

const transitionsKey = ['cloud-status', 'transitions'];

/** Outages and recoveries of one cloud or of all, newest first, page by page. */
export const useTransitions = (instanceId?: string) =>
  useInfiniteQuery({
    queryKey: [...transitionsKey, instanceId ?? 'all'],
    queryFn: ({ pageParam, signal }) =>
      portal.page('/cloud-status/transitions', {
        params: { query: { ...(instanceId && { instanceId }), ...(pageParam !== null && { cursor: pageParam }) } },
        signal,
      }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ nextCursor }) => nextCursor,
  });

/** The cloud as the service has it now. Throws 404 if it is gone. */
export async function readCloud(id: string): Promise<CloudInstance> {
  const all = await queryClient.fetchQuery({ ...cloudsQuery, staleTime: 0 });
  const found = all.find((cloud) => cloud.id === id);
  if (!found) throw new PortalError({ code: 'NOT_FOUND', message: 'There is no such cloud.' }, { status: 404 });
  return found;
}

function setClouds(change: (clouds: CloudInstance[]) => CloudInstance[]): void {
  queryClient.setQueryData<CloudInstance[]>(cloudsQuery.queryKey, (clouds) => clouds && change(clouds));
  queryClient.setQueryData<CloudOverview>(
    cloudOverviewQuery.queryKey,
    (overview) => overview && { ...overview, instances: change(overview.instances) },
  );
}

const changeCloud = (id: string, changes: Partial<CloudInstance>) =>
  setClouds((clouds) => clouds.map((cloud) => (cloud.id === id ? { ...cloud, ...changes } : cloud)));

/** The numbers of the overview follow every change. */
const countAgain = (): void => void queryClient.invalidateQueries({ queryKey: cloudOverviewQuery.queryKey });

/** Shows a new state of a cloud without asking for all. */
export function keepCloud(changed: CloudInstance): void {
  setClouds((clouds) =>
    clouds.some(({ id }) => id === changed.id)
      ? clouds.map((cloud) => (cloud.id === changed.id ? changed : cloud))
      : [...clouds, changed],
  );
  countAgain();
}

export const refreshClouds = (): Promise<void> => queryClient.invalidateQueries({ queryKey: ['cloud-status'] });

export async function deleteCloud({ id, customerName }: CloudInstance): Promise<void> {
  await send(() => portal.delete('/cloud-status/instances/{id}', { params: { path: { id } } }));
  setClouds((clouds) => clouds.filter((cloud) => cloud.id !== id));
  countAgain();
  // Those of the cloud itself are gone, and asking for them would fail.
  void queryClient.invalidateQueries({ queryKey: [...transitionsKey, 'all'] });
  showToast(texts.value.deleted(customerName), { kind: 'success' });
}

/** Ids of the clouds that this window has under check. */
export const underCheck = signal<ReadonlySet<string>>(new Set());

/** Checks a cloud and tells how it is, or why it could not be checked. */
export async function checkCloud({ id, customerName }: Pick<CloudInstance, 'id' | 'customerName'>): Promise<void> {
  if (underCheck.value.has(id)) return;
  underCheck.value = new Set([...underCheck.value, id]);
  try {
    const checked = await send(() => portal.post('/cloud-status/instances/{id}/check', { params: { path: { id } } }));
    const before = stateOf(id);
    keepCloud(checked);
    if (before !== checked.reportedState) void queryClient.invalidateQueries({ queryKey: transitionsKey });
    showToast(texts.value.checkedNow(customerName, lightWord(checked)), {
      kind: checked.light === 'red' ? 'error' : checked.light === 'green' ? 'success' : 'info',
    });
  } catch (error) {
    await showRefusal(error, customerName);
  } finally {
    underCheck.value = new Set([...underCheck.value].filter((other) => other !== id));
  }
}

const stateOf = (id: string) =>
  queryClient.getQueryData<CloudInstance[]>(cloudsQuery.queryKey)?.find((cloud) => cloud.id === id)?.reportedState;

/** The last call about the subscription of each cloud: the next one waits for it, so that the newest wish wins. */
const calls = new Map<string, Promise<void>>();

/** Subscribes or unsubscribes at once; the message can undo it. */
export function toggleSubscription({ id, customerName, subscribed }: CloudInstance): void {
  const t = texts.value;
  void setSubscription(id, customerName, !subscribed);
  showToast(subscribed ? t.unsubscribed(customerName) : t.subscribed(customerName), {
    kind: 'success',
    undo: () => void setSubscription(id, customerName, subscribed),
  });
}

async function setSubscription(id: string, name: string, subscribed: boolean): Promise<void> {
  // An answer under way does not know of it yet.
  const isFirst = !hasAll();
  for (const { queryKey } of [cloudsQuery, cloudOverviewQuery]) void queryClient.cancelQueries({ queryKey });
  changeCloud(id, { subscribed });
  const path = '/cloud-status/instances/{id}/subscription';
  const call = async () => {
    try {
      const params = { path: { id } };
      await send<unknown>(() => (subscribed ? portal.put(path, { params }) : portal.delete(path, { params })));
    } catch (error) {
      changeCloud(id, { subscribed: !subscribed });
      await showRefusal(error, name);
    }
  };
  const made = (calls.get(id) ?? Promise.resolve()).then(call);
  calls.set(id, made);
  await made;
  if (calls.get(id) === made) calls.delete(id);
  // Those that were asked for have not come.
  if (isFirst) void queryClient.invalidateQueries({ queryKey: cloudsQuery.queryKey });
  countAgain();
}

async function showRefusal(error: unknown, name: string): Promise<void> {
  const words = await import('../error-texts.ts').catch(() => null);
  const text = error instanceof PortalError && words ? words.sentenceFor(error) : texts.value.failed;
  showToast(`${name}: ${text}`, { kind: 'error' });
}
