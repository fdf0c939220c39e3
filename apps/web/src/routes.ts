import type { IconNode } from 'lucide';
import {
  Activity,
  Bell,
  Blocks,
  Building2,
  CalendarDays,
  Cloud,
  Download,
  FileKey,
  FileSpreadsheet,
  FolderSync,
  Image,
  LayoutDashboard,
  Mail,
  MailPlus,
  Radar,
  ReceiptEuro,
  ScrollText,
  Server,
  ShieldCheck,
  Sparkles,
  User,
  Users,
  UsersRound,
  Utensils,
} from 'lucide';
import { exec } from 'preact-iso/router';
import { SignInPage } from './accounts/sign-in-page.tsx';
import { type Lazy, lazy } from './lazy.tsx';
import type { PageName } from './shell/page-names.ts';

/** Who may open a page: everyone, every account, a role, or holders of a grant. The API decides; pages only explain. */
export type Who = 'public' | 'account' | 'ADMIN' | 'SUPER_ADMIN' | { module: string; level: 'USE' | 'MANAGE' };

export interface PageRoute {
  /** `:name` stands for one segment. */
  path: string;
  name: PageName;
  who: Who;
  /** The part of the navigation that lists the page. Pages with parameters, and those reached from others, are in none. */
  nav?: { group: 'main' | 'account' | 'admin' | 'module'; icon: IconNode };
  Page: Lazy<object>;
}

const DashboardPage = lazy(async () => {
  const { DashboardPage: Page, readDashboardAhead } = await import('./signed-in.ts');
  await readDashboardAhead();
  return Page;
});

/** All pages. Navigation, titles, access and the browser test's walk are made from this list; the first match opens. */
export const routes: readonly PageRoute[] = [
  {
    path: '/app',
    name: 'dashboard',
    who: 'account',
    nav: { group: 'main', icon: LayoutDashboard },
    Page: DashboardPage,
  },
  {
    path: '/app/tabs/:id',
    name: 'dashboard',
    who: 'account',
    Page: DashboardPage,
  },
  {
    path: '/app/reminders',
    name: 'reminders',
    who: 'account',
    nav: { group: 'main', icon: Bell },
    Page: lazy(() => import('./reminders/reminders-page.tsx').then(({ RemindersPage }) => RemindersPage)),
  },
  {
    path: '/app/images',
    name: 'images',
    who: 'account',
    nav: { group: 'account', icon: Image },
    Page: lazy(() => import('./dashboards/images-page.tsx').then(({ ImagesPage }) => ImagesPage)),
  },
  {
    path: '/app/me',
    name: 'me',
    who: 'account',
    nav: { group: 'account', icon: User },
    Page: lazy(() => import('./accounts/profile-page.tsx').then(({ ProfilePage }) => ProfilePage)),
  },
  {
    path: '/app/me/security',
    name: 'security',
    who: 'account',
    nav: { group: 'account', icon: ShieldCheck },
    Page: lazy(() => import('./accounts/security-page.tsx').then(({ SecurityPage }) => SecurityPage)),
  },
  {
    path: '/app/modules/:id',
    name: 'customModule',
    who: 'account',
    Page: lazy(() => import('./modules/custom-module-page.tsx').then(({ CustomModulePage }) => CustomModulePage)),
  },
  {
    path: '/app/virtualization',
    name: 'virtualization',
    who: { module: 'virtualization', level: 'USE' },
    nav: { group: 'module', icon: Server },
    Page: lazy(() => import('./monitoring/servers-page.tsx').then(({ ServersPage }) => ServersPage)),
  },
  {
    path: '/app/virtualization/:id',
    name: 'virtualization',
    who: { module: 'virtualization', level: 'USE' },
    Page: lazy(() => import('./monitoring/server-page.tsx').then(({ ServerPage }) => ServerPage)),
  },
  {
    path: '/app/cloud-status',
    name: 'cloudStatus',
    who: { module: 'cloud-status', level: 'USE' },
    nav: { group: 'module', icon: Cloud },
    Page: lazy(() => import('./cloud-status/clouds-page.tsx').then(({ CloudsPage }) => CloudsPage)),
  },
  {
    path: '/app/cloud-status/:id',
    name: 'cloudStatus',
    who: { module: 'cloud-status', level: 'USE' },
    Page: lazy(() => import('./cloud-status/cloud-page.tsx').then(({ CloudPage }) => CloudPage)),
  },
  {
    path: '/app/tenders',
    name: 'tenders',
    who: { module: 'tender-radar', level: 'USE' },
    nav: { group: 'module', icon: Radar },
    Page: lazy(() => import('./tenders/tenders-page.tsx').then(({ TendersPage }) => TendersPage)),
  },
  {
    path: '/app/tenders/searches',
    name: 'savedSearches',
    who: { module: 'tender-radar', level: 'USE' },
    Page: lazy(() => import('./tenders/searches-page.tsx').then(({ SearchesPage }) => SearchesPage)),
  },
  {
    path: '/app/tenders/sources',
    name: 'tenderSources',
    who: { module: 'tender-radar', level: 'USE' },
    Page: lazy(() => import('./tenders/sources-page.tsx').then(({ SourcesPage }) => SourcesPage)),
  },
  {
    path: '/app/tenders/:id',
    name: 'tenders',
    who: { module: 'tender-radar', level: 'USE' },
    Page: lazy(() => import('./tenders/tender-page.tsx').then(({ TenderPage }) => TenderPage)),
  },
  {
    path: '/app/certificates',
    name: 'certificates',
    who: { module: 'certificate-manager', level: 'USE' },
    nav: { group: 'module', icon: FileKey },
    Page: lazy(() => import('./certificates/certificates-page.tsx').then(({ CertificatesPage }) => CertificatesPage)),
  },
  {
    path: '/app/canteen-billing',
    name: 'canteenBilling',
    who: { module: 'canteen-billing', level: 'USE' },
    nav: { group: 'module', icon: Utensils },
    Page: lazy(() => import('./accounting/canteen-page.tsx').then(({ CanteenPage }) => CanteenPage)),
  },
  {
    path: '/app/merchandise-export',
    name: 'merchandiseExport',
    who: { module: 'merchandise-export', level: 'USE' },
    nav: { group: 'module', icon: FileSpreadsheet },
    Page: lazy(() => import('./accounting/merchandise-page.tsx').then(({ MerchandisePage }) => MerchandisePage)),
  },
  {
    path: '/app/calendar',
    name: 'calendar',
    who: { module: 'calendar', level: 'USE' },
    nav: { group: 'module', icon: CalendarDays },
    Page: lazy(() => import('./calendar/calendar-page.tsx').then(({ CalendarPage }) => CalendarPage)),
  },
  {
    path: '/app/invoices',
    name: 'invoices',
    who: { module: 'invoice-mailbox', level: 'USE' },
    nav: { group: 'module', icon: ReceiptEuro },
    Page: lazy(() => import('./invoices/invoices-page.tsx').then(({ InvoicesPage }) => InvoicesPage)),
  },
  {
    path: '/app/invoices/:id',
    name: 'invoices',
    who: { module: 'invoice-mailbox', level: 'USE' },
    Page: lazy(() => import('./invoices/invoice-page.tsx').then(({ InvoicePage }) => InvoicePage)),
  },
  {
    path: '/app/whats-new',
    name: 'whatsNew',
    who: 'account',
    nav: { group: 'account', icon: Sparkles },
    Page: lazy(() => import('./support/whats-new-page.tsx').then(({ WhatsNewPage }) => WhatsNewPage)),
  },
  {
    path: '/app/downloads',
    name: 'downloads',
    who: 'account',
    nav: { group: 'account', icon: Download },
    Page: lazy(() => import('./desktop/downloads-page.tsx').then(({ DownloadsPage }) => DownloadsPage)),
  },
  {
    path: '/app/admin/users',
    name: 'users',
    who: 'ADMIN',
    nav: { group: 'admin', icon: Users },
    Page: lazy(() => import('./accounts/users-page.tsx').then(({ UsersPage }) => UsersPage)),
  },
  {
    path: '/app/admin/users/:id',
    name: 'users',
    who: 'ADMIN',
    Page: lazy(() => import('./accounts/user-page.tsx').then(({ UserPage }) => UserPage)),
  },
  {
    path: '/app/admin/groups',
    name: 'groups',
    who: 'ADMIN',
    nav: { group: 'admin', icon: UsersRound },
    Page: lazy(() => import('./modules/groups-page.tsx').then(({ GroupsPage }) => GroupsPage)),
  },
  {
    path: '/app/admin/modules',
    name: 'modules',
    who: 'ADMIN',
    nav: { group: 'admin', icon: Blocks },
    Page: lazy(() => import('./modules/modules-page.tsx').then(({ ModulesPage }) => ModulesPage)),
  },
  {
    path: '/app/admin/mail',
    name: 'mail',
    who: 'ADMIN',
    nav: { group: 'admin', icon: Mail },
    Page: lazy(() => import('./mail-settings/mail-page.tsx').then(({ MailPage }) => MailPage)),
  },
  {
    path: '/app/admin/welcome-mail',
    name: 'welcomeMail',
    who: 'ADMIN',
    nav: { group: 'admin', icon: MailPlus },
    Page: lazy(() => import('./mail-settings/welcome-mail-page.tsx').then(({ WelcomeMailPage }) => WelcomeMailPage)),
  },
  {
    path: '/app/admin/directory',
    name: 'directory',
    who: 'ADMIN',
    nav: { group: 'admin', icon: FolderSync },
    Page: lazy(() => import('./directory/directory-page.tsx').then(({ DirectoryPage }) => DirectoryPage)),
  },
  {
    path: '/app/admin/audit-log',
    name: 'auditLog',
    who: 'ADMIN',
    nav: { group: 'admin', icon: ScrollText },
    Page: lazy(() => import('./audit/audit-log-page.tsx').then(({ AuditLogPage }) => AuditLogPage)),
  },
  {
    path: '/app/admin/jobs',
    name: 'jobs',
    who: 'SUPER_ADMIN',
    nav: { group: 'admin', icon: Activity },
    Page: lazy(() => import('./operations/jobs-page.tsx').then(({ JobsPage }) => JobsPage)),
  },
  {
    path: '/app/admin/tenants',
    name: 'tenants',
    who: 'SUPER_ADMIN',
    nav: { group: 'admin', icon: Building2 },
    Page: lazy(() => import('./tenants/tenants-page.tsx').then(({ TenantsPage }) => TenantsPage)),
  },
  {
    path: '/app/sign-in',
    name: 'signIn',
    who: 'public',
    // Part of the first script: most of what it needs, every page needs.
    Page: Object.assign(SignInPage, { preload: async () => undefined }),
  },
  {
    path: '/app/forgot-password',
    name: 'forgotPassword',
    who: 'public',
    Page: lazy(() => import('./accounts/password-pages.tsx').then(({ ForgotPasswordPage }) => ForgotPasswordPage)),
  },
  {
    path: '/reset-password',
    name: 'resetPassword',
    who: 'public',
    Page: lazy(() => import('./accounts/password-pages.tsx').then(({ ResetPasswordPage }) => ResetPasswordPage)),
  },
  {
    path: '/confirm-email',
    name: 'confirmEmail',
    who: 'public',
    Page: lazy(() => import('./accounts/password-pages.tsx').then(({ ConfirmEmailPage }) => ConfirmEmailPage)),
  },
  {
    path: '/app/change-password',
    name: 'changePassword',
    who: 'account',
    Page: lazy(() => import('./accounts/password-pages.tsx').then(({ ChangePasswordPage }) => ChangePasswordPage)),
  },
  // For developers: all parts of src/ui on one page. No build contains it.
  ...(import.meta.env.DEV
    ? [
        {
          path: '/app/parts',
          name: 'parts' as const,
          who: 'account' as const,
          Page: lazy(() => import('./ui/parts-page.tsx').then(({ PartsPage }) => PartsPage)),
        },
      ]
    : []),
];

/** The page at this path; undefined if there is none. */
export function routeAt(path: string): PageRoute | undefined {
  return routes.find((route) => matches(path, route.path));
}

function matches(path: string, pattern: string): boolean {
  try {
    return exec(path, pattern) !== undefined;
  } catch {
    // The path is no valid percent-encoding.
    return false;
  }
}

/** The parameters of a page's path; empty if it has none. */
export function paramsAt(path: string): Record<string, string> {
  const route = routeAt(path);
  return (route && exec(path, route.path)?.params) ?? {};
}
