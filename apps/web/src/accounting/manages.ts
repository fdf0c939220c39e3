import { useActiveModules } from '../shell/modules.ts';

/** Whether the account may change what belongs to the module. */
export const useManages = (key: 'canteen-billing' | 'merchandise-export'): boolean =>
  useActiveModules().data?.some((module) => module.key === key && module.level === 'MANAGE') ?? false;
