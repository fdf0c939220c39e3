import createClient, {
  type Client,
  type ClientPathsWithMethod,
  defaultBodySerializer,
  type FetchResponse,
  type MaybeOptionalInit,
  type Middleware,
} from 'openapi-fetch';
import type { paths } from './interface.ts';
import { errorOfAnswer, PortalError } from './portal-error.ts';

type Routes = Client<paths>;
type Method = 'get' | 'post' | 'put' | 'patch' | 'delete';
type PathOf<M extends Method> = ClientPathsWithMethod<Routes, M>;
/** Parameters and body of a call; may be left out if the route needs neither. */
type InitOf<M extends Method, Path extends PathOf<M>> = MaybeOptionalInit<paths[Path], M>;
type Args<Init> = undefined extends Init ? [init?: Init] : [init: Init];
/** The body of a success; undefined for an empty one. */
type BodyOf<M extends Method, Path extends PathOf<M>, Init> = paths[Path][M] extends infer Route extends Record<
  string,
  unknown
>
  ? Extract<FetchResponse<Route, Init, `${string}/${string}`>, { data: unknown }>['data']
  : never;

/** A call of one method. It returns the body of the answer and throws a `PortalError` for every other outcome. */
type Call<M extends Method> = <Path extends PathOf<M>, Init extends InitOf<M, Path>>(
  path: Path,
  ...init: Args<Init>
) => Promise<BodyOf<M, Path, Init>>;

interface Options {
  /** Address of the service. Default: the origin of the page. */
  baseUrl?: string;
  fetch?: (request: Request) => Promise<Response>;
}

/**
 * A typed client of the service. A browser stays signed in by its cookies; elsewhere pass `fetch: rememberCookies()`. Fields that hold
 * files take a `Blob` and are sent as a form. All calls throw a `PortalError`, except that an aborted call throws the reason it was
 * aborted for.
 */
export function openPortal({ baseUrl = '', fetch = (request) => globalThis.fetch(request) }: Options = {}) {
  const client = createClient<paths>({
    baseUrl,
    // The mode in which a browser preloads. A page of another origin has to ask for its cookies.
    credentials: baseUrl === '' ? 'same-origin' : 'include',
    bodySerializer: (body) => formOf(body) ?? defaultBodySerializer(body),
    fetch,
  });

  async function answerOf<M extends Method, Path extends PathOf<M>, Init extends InitOf<M, Path>>(
    method: M,
    path: Path,
    init: Init | undefined,
  ): Promise<{ data: BodyOf<M, Path, Init>; response: Response }> {
    // The library's own types need a method and a path that are known.
    const request = client.request as unknown as (
      ...call: unknown[]
    ) => Promise<{ data?: unknown; error?: unknown; response: Response }>;
    const { data, error, response } = await request(method, path, init).catch((cause: unknown) => {
      if (init?.signal?.aborted) throw cause;
      throw new PortalError({ code: 'UNREACHABLE', message: 'The service cannot be reached.' }, { cause });
    });
    if (!response.ok) throw errorOfAnswer(error, response);
    return { data: data as BodyOf<M, Path, Init>, response };
  }

  const call =
    <M extends Method>(method: M): Call<M> =>
    async (path, ...[init]) =>
      (await answerOf(method, path, init)).data;

  return {
    get: call('get'),
    post: call('post'),
    put: call('put'),
    patch: call('patch'),
    delete: call('delete'),

    /** One page of a long list. `nextCursor` is null on the last page, and `totalCount` if the service does not count the list. */
    async page<Path extends PathOf<'get'>, Init extends InitOf<'get', Path>>(path: Path, ...[init]: Args<Init>) {
      const { data, response } = await answerOf('get', path, init);
      const total = response.headers.get('x-total-count');
      return {
        items: data,
        nextCursor: response.headers.get('x-next-cursor'),
        totalCount: total === null ? null : Number(total),
      };
    },

    /** Sees every request and answer, such as for a header that one route sends. */
    use: (middleware: Middleware): void => client.use(middleware),
  };
}

/** A form of the fields of a body that contains files; undefined for any other body. */
function formOf(body: unknown): FormData | undefined {
  if (typeof body !== 'object' || body === null) return undefined;
  const fields = Object.entries(body as Record<string, unknown>).filter(([, value]) => value !== undefined);
  if (!fields.some(([, value]) => filesOf(value))) return undefined;
  const form = new FormData();
  for (const [name, value] of fields) {
    const files = filesOf(value);
    if (files) for (const file of files) form.append(name, file);
    else form.append(name, typeof value === 'string' ? value : JSON.stringify(value));
  }
  return form;
}

/** The files of a field; undefined if it holds something else. */
function filesOf(value: unknown): Blob[] | undefined {
  const files = [value].flat().filter((each) => each instanceof Blob);
  return files.length > 0 ? files : undefined;
}
