import { useQuery } from '@tanstack/preact-query';
import { portal, queryClient } from '../portal.ts';

export const useTenants = (enabled = true) =>
  useQuery({ queryKey: ['tenants'], queryFn: ({ signal }) => portal.get('/tenants', { signal }), enabled });

export const refreshTenants = (): Promise<void> => queryClient.invalidateQueries({ queryKey: ['tenants'] });
