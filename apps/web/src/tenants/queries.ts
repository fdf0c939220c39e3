import { useQuery } from '@tanstack/preact-query';
import { portal, queryClient } from '../portal.ts';
import { me } from '../session.ts';

/** All tenants, for the one who may see them. */
export const useTenants = () =>
  useQuery({
    queryKey: ['tenants'],
    queryFn: ({ signal }) => portal.get('/tenants', { signal }),
    enabled: me.value?.role === 'SUPER_ADMIN',
  });

export const refreshTenants = (): Promise<void> => queryClient.invalidateQueries({ queryKey: ['tenants'] });
