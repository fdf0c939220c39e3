import { useEffect, useState } from 'preact/hooks';
import { usePolled } from '../polling.ts';
import { portal, queryClient } from '../portal.ts';
import { mergeNotices, nextSince, type NoticeFeed } from './notice-feed.ts';

const queryKey = ['notices'];
const path = '/reminders/notifications';
const intervalMs = 30_000;
/** The page that the person opened comes first. */
const firstMs = 1_000;
let isOpen = false;

let serverTime: string | null = null;
portal.use({
  onResponse: ({ schemaPath, response }) => {
    if (schemaPath === path) serverTime = response.headers.get('x-server-time');
  },
});

/** The notices of due reminders, kept up to date. */
export function useNotices() {
  const [isWanted, setWanted] = useState(isOpen);
  useEffect(() => {
    const timer = setTimeout(() => {
      isOpen = true;
      setWanted(true);
    }, firstMs);
    return () => clearTimeout(timer);
  }, []);
  return usePolled<NoticeFeed>({ queryKey, queryFn: fetchNotices, intervalMs, enabled: isWanted });
}

async function fetchNotices({ signal }: { signal: AbortSignal }): Promise<NoticeFeed> {
  const known = queryClient.getQueryData<NoticeFeed>(queryKey);
  const since = nextSince(known, Date.now());
  const notices = await portal.get(path, { params: { query: since === null ? {} : { since } }, signal });
  return mergeNotices(since === null ? undefined : known, { notices, serverTime, at: Date.now() });
}

/** The service deletes the notices of a deleted reminder, too. */
export function forgetNotices(reminderId: string): void {
  queryClient.setQueryData<NoticeFeed>(
    queryKey,
    (feed) => feed && { ...feed, notices: feed.notices.filter((notice) => notice.reminderId !== reminderId) },
  );
}
