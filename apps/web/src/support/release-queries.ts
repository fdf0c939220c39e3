import { portal, queryClient, send } from '../portal.ts';

/** The running release, and whether the account has read about it. */
export const releaseNotice = {
  queryKey: ['support', 'release-notice'],
  queryFn: ({ signal }: { signal: AbortSignal }) => portal.get('/users/me/release-notice', { signal }),
};

/** Remembers that the account has read about a release, so that no other window or device tells of it. */
export async function markSeen(version: string): Promise<void> {
  const { lastSeenVersion } = await send(() => portal.post('/users/me/release-seen', { body: { version } }));
  queryClient.setQueryData<Awaited<ReturnType<typeof releaseNotice.queryFn>>>(
    releaseNotice.queryKey,
    (notice) => notice && { ...notice, lastSeenVersion, isNew: false },
  );
}
