/** Why a page must not be framed; null if it may. */
export function framingRefusal(url: string, ownOrigin: string): 'notHttps' | 'ownOrigin' | null {
  if (!URL.canParse(url)) return 'notHttps';
  const { protocol, origin } = new URL(url);
  if (protocol !== 'https:') return 'notHttps';
  // In its own origin the frame could leave its sandbox.
  return origin === ownOrigin ? 'ownOrigin' : null;
}
