import { useEffect, useState } from 'preact/hooks';

/**
 * The token of a mailed link: the part `#token=` of the address, which browsers do not send to the service. It leaves the address bar
 * and the history at once. Null if the link is incomplete.
 */
export function useHashToken(): string | null {
  const [token, setToken] = useState(takeToken);
  useEffect(() => {
    // A link that is opened in a tab that already shows this page only changes the hash.
    const update = () => setToken((before) => takeToken() ?? before);
    addEventListener('hashchange', update);
    return () => removeEventListener('hashchange', update);
  }, []);
  return token;
}

function takeToken(): string | null {
  const token = new URLSearchParams(location.hash.slice(1)).get('token');
  if (location.hash) history.replaceState(history.state, '', location.pathname + location.search);
  return token || null;
}
