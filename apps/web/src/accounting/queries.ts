import { useQuery } from '@tanstack/preact-query';
import { portal } from '../portal.ts';

export const canteenKey = ['accounting', 'canteen-settings'] as const;
export const merchandiseKey = ['accounting', 'merchandise-settings'] as const;
export const accountsKey = ['accounting', 'accounts'] as const;

export const readCanteenSettings = () => portal.get('/accounting/canteen/settings');
export const readMerchandiseSettings = () => portal.get('/accounting/merchandise/settings');
export const readAccounts = () => portal.get('/accounting/merchandise/accounts');

export const useCanteenSettings = () => useQuery({ queryKey: canteenKey, queryFn: readCanteenSettings });
export const useMerchandiseSettings = () => useQuery({ queryKey: merchandiseKey, queryFn: readMerchandiseSettings });
export const useAccounts = () => useQuery({ queryKey: accountsKey, queryFn: readAccounts });
