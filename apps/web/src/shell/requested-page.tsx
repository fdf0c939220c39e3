import { useQuery } from '@tanstack/preact-query';
import { LayoutDashboard } from 'lucide';
import { portal } from '../portal.ts';
import type { PageRoute } from '../routes.ts';
import { me } from '../session.ts';
import { LinkButton } from '../ui/button.tsx';
import { Page } from '../ui/page.tsx';
import { QueryView } from '../ui/states.tsx';
import { type Lack, lackFor } from './access.ts';
import { moduleName } from './module-names.ts';
import type { useActiveModules } from './modules.ts';
import { texts } from './texts.ts';

interface RequestedPageProps {
  route: PageRoute | undefined;
  modules: ReturnType<typeof useActiveModules>;
}

/** The page at the address, or why there is none or the account may not open it. */
export function RequestedPage({ route, modules }: RequestedPageProps) {
  const t = texts.value;
  if (!me.value) return null;
  if (!route) return <Notice title={t.notFound}>{t.notFoundText}</Notice>;
  const lack = lackFor(route.who, { role: me.value.role, modules: modules.data });
  if (lack === null) return <route.Page />;
  if (lack === 'unknown') return <QueryView query={modules}>{() => null}</QueryView>;
  return typeof route.who === 'object' ? (
    <ModuleRefusal module={route.who.module} lack={lack} />
  ) : (
    <Notice title={t.noAccess}>
      {lack === 'SUPER_ADMIN' ? `${t.needsSuperAdmin} ${t.askOperator}` : `${t.needsAdmin} ${askAdmin()}`}
    </Notice>
  );
}

function ModuleRefusal({ module, lack }: { module: string; lack: Lack }) {
  const t = texts.value;
  const all = useQuery({ queryKey: ['modules', 'all'], queryFn: ({ signal }) => portal.get('/modules', { signal }) });
  return (
    <QueryView query={all}>
      {(modules) => {
        const found = modules.find(({ key }) => key === module);
        const name = moduleName({ key: module, name: found?.name ?? module, kind: 'builtin' });
        const isOff = found?.enabled === false;
        const reason = isOff ? t.moduleOff(name) : lack === 'manage' ? t.needsManage(name) : t.needsModule(name);
        return <Notice title={t.noAccess}>{`${reason} ${askAdmin()}`}</Notice>;
      }}
    </QueryView>
  );
}

const askAdmin = (): string => texts.value.askAdmin(me.value?.tenantName ?? '');

function Notice({ title, children }: { title: string; children: string }) {
  return (
    <Page title={title}>
      <p>{children}</p>
      <p>
        <LinkButton href="/app" icon={LayoutDashboard}>
          {texts.value.home}
        </LinkButton>
      </p>
    </Page>
  );
}
