/** A `fetch` that stays signed in outside browsers: it stores the cookies of one service and sends them with each call. */
export function rememberCookies(): (request: Request) => Promise<Response> {
  const cookies = new Map<string, string>();
  return async (request) => {
    if (cookies.size > 0) request.headers.set('cookie', [...cookies.values()].join('; '));
    const response = await fetch(request);
    for (const line of response.headers.getSetCookie()) {
      const [pair = ''] = line.split(';');
      const [name = '', value] = pair.split('=');
      if (value) cookies.set(name, pair);
      else cookies.delete(name);
    }
    return response;
  };
}
