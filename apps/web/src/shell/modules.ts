import { useQuery } from '@tanstack/preact-query';
import type { ActiveModule } from '@portal/client/interface';
import type { ModuleKey } from '@portal/domain/modules/modules';
import { portal, queryClient } from '../portal.ts';

const activeModules = {
  queryKey: ['modules', 'active'],
  queryFn: ({ signal }: { signal: AbortSignal }) => portal.get('/modules/active', { signal }),
};

/** The built-in and custom modules that the account may open, in the order of the navigation. */
export const useActiveModules = () => useQuery(activeModules);

/** Reads them before a component asks for them. Never rejects. */
export const readModulesAhead = (): Promise<void> => queryClient.prefetchQuery(activeModules);

/** Whether the account may open a built-in module; false until that is known. */
export const hasModule = (module: ModuleKey): boolean =>
  queryClient
    .getQueryData<ActiveModule[]>(activeModules.queryKey)
    ?.some(({ key, kind }) => kind === 'builtin' && key === module) ?? false;

/** Whether the account may manage a built-in module; undefined until that is known. */
export const useManages = (module: ModuleKey): boolean | undefined =>
  useActiveModules().data?.some(({ key, kind, level }) => kind === 'builtin' && key === module && level === 'MANAGE');

/** The page of a custom module; null for a built-in one. */
export function customModulePath({ key, kind }: Pick<ActiveModule, 'key' | 'kind'>): string | null {
  return kind === 'custom' ? `/app/modules/${encodeURIComponent(key.replace(/^custom:/, ''))}` : null;
}
