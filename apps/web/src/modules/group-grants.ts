import type { GrantMatrix } from '@portal/client/interface';
import { moduleName } from '../shell/module-names.ts';

interface NamedGrant {
  key: string;
  name: string;
  level: 'USE' | 'MANAGE';
}

/** The modules that are granted to a group, with their names in the language of the page. */
export function grantsOf(matrix: GrantMatrix | undefined, groupId: string): NamedGrant[] {
  const grants = matrix?.subjects.find(({ type, id }) => type === 'group' && id === groupId)?.grants ?? {};
  return (matrix?.modules ?? []).flatMap(({ key, name }) => {
    const level = grants[key];
    return level ? [{ key, name: moduleName({ key, name, kind: 'builtin' }), level }] : [];
  });
}
