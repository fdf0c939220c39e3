import { CircleQuestionMark, PanelLeft, Search } from 'lucide';
import type { RefObject } from 'preact';
import { useLocation } from 'preact-iso/router';
import { useEffect, useRef } from 'preact/hooks';
import { lazy } from '../lazy.tsx';
import { isAway } from '../portal.ts';
import type { PageRoute } from '../routes.ts';
import { me, sessionState } from '../session.ts';
import { Button, IconButton } from '../ui/button.tsx';
import { Kbd } from '../ui/kbd.tsx';
import { Toasts } from '../ui/toast.tsx';
import { wantedLeave } from '../ui/unsaved.ts';
import { VisuallyHidden } from '../ui/visually-hidden.tsx';
import { AccountMenu } from './account-menu.tsx';
import { BottomBar } from './bottom-bar.tsx';
import s from './frame.module.css';
import { InFrame } from './in-frame.ts';
import { useActiveModules } from './modules.ts';
import { type NavGroups, navGroups, type NavItem } from './nav-groups.ts';
import { isCollapsed, SideNavigation, toggleNavigation } from './navigation.tsx';
import { Notices } from './notices.tsx';
import { closeOverlay, openOverlay, overlay } from './overlay.ts';
import { RequestedPage } from './requested-page.tsx';
import { searchKeys, useShortcuts } from './shortcuts.ts';
import { pageTitle } from './tab-title.ts';
import { texts } from './texts.ts';

const Palette = lazy(() => import('./palette.tsx').then(({ Palette }) => Palette));
const Help = lazy(() => import('./help.tsx').then(({ Help }) => Help));
const BugReportDialog = lazy(() =>
  import('../support/bug-report-dialog.tsx').then(({ BugReportDialog }) => BugReportDialog),
);
const Sheet = lazy(() => import('./sheet.tsx').then(({ Sheet }) => Sheet));
const CustomModuleDialog = lazy(() =>
  import('../modules/custom-module-dialog.tsx').then(({ CustomModuleDialog }) => CustomModuleDialog),
);
const LeaveDialog = lazy(() => import('../ui/leave-dialog.tsx').then(({ LeaveDialog }) => LeaveDialog));
const SignInDialog = lazy(() => import('../accounts/sign-in-dialog.tsx').then(({ SignInDialog }) => SignInDialog));

/** What stands around every page of a signed-in account. Without a route, the address has no page. */
export function Frame({ route }: { route?: PageRoute | undefined }) {
  const t = texts.value;
  const { path, route: go } = useLocation();
  const main = useRef<HTMLElement>(null);
  const modules = useActiveModules();
  useShortcuts();
  useFocusOnNavigation(path, main);
  useReleaseNotice(go);
  if (!me.value) return null;

  const groups = navGroups({ role: me.value.role, modules: modules.data });
  const navigation = {
    groups,
    // A page with parameters counts as the entry that it belongs to.
    isCurrent: (item: NavItem) => item.href === path || (!!item.route && item.route.name === route?.name),
  };
  return (
    // The signal itself: its value would draw the whole page again.
    <div class={s.frame} data-collapsed={isCollapsed}>
      <a
        class={s.skip}
        href="#main"
        onClick={(event) => {
          // The address stays as it is.
          event.preventDefault();
          main.current?.focus();
        }}
      >
        {t.skip}
      </a>
      <header class={s.header}>
        <span class={s.wide}>
          <CollapseButton />
        </span>
        <a class={s.product} href="/app">
          {t.product}
        </a>
        <Button
          icon={Search}
          aria-keyshortcuts="Control+K Meta+K"
          title={t.searchHint}
          onMouseEnter={() => void Palette.preload()}
          onFocus={() => void Palette.preload()}
          onClick={() => openOverlay('palette')}
        >
          <span class={s.search}>{t.search}</span>{' '}
          <span class={s.wide}>
            <Kbd>{searchKeys()}</Kbd>
          </span>
        </Button>
        <Notices />
        <IconButton
          icon={CircleQuestionMark}
          label={t.help}
          aria-keyshortcuts="?"
          onClick={() => openOverlay('help')}
        />
        <span class={s.wide}>
          <AccountMenu pages={groups.account.flatMap(({ items }) => items)} />
        </span>
      </header>
      <div class={s.connection} role="status">
        {isAway.value && <p>{t.away}</p>}
      </div>
      <SideNavigation {...navigation} isWaiting={modules.isPending && modules.failureCount === 0} />
      <main class={s.main} id="main" tabIndex={-1} ref={main}>
        <InFrame.Provider value>
          <RequestedPage route={route} modules={modules} />
        </InFrame.Provider>
      </main>
      <BottomBar {...navigation} />
      <VisuallyHidden>
        <PageTitle />
      </VisuallyHidden>
      <Overlay {...navigation} />
      {/* Each question is a new dialog, because the latest one is in front of all others. */}
      {wantedLeave.value && <LeaveDialog key={wantedLeave.value} />}
      {sessionState.value === 'lost' && <SignInDialog />}
      <Toasts />
    </div>
  );
}

const CollapseButton = () => (
  <IconButton
    icon={PanelLeft}
    label={texts.value.collapseNavigation}
    pressed={isCollapsed.value}
    onClick={toggleNavigation}
  />
);

/** Says where a navigation has led. It is set after the page was drawn, so it must not draw the page again. */
const PageTitle = () => <span aria-live="polite">{pageTitle.value}</span>;

function Overlay(navigation: { groups: NavGroups; isCurrent: (item: NavItem) => boolean }) {
  switch (overlay.value) {
    case 'palette':
      return <Palette groups={navigation.groups} />;
    case 'help':
      return <Help />;
    case 'bugReport':
      return <BugReportDialog onClose={closeOverlay} />;
    case 'customModule':
      return <CustomModuleDialog onClose={closeOverlay} />;
    case 'modules':
    case 'account':
      return <Sheet kind={overlay.value} {...navigation} />;
    default:
      return null;
  }
}

/** Long after the first page is drawn. */
const noticeMs = 5_000;

/** Tells of a release that is new to the account. */
function useReleaseNotice(go: (path: string) => void): void {
  useEffect(() => {
    const tell = () => import('../support/release-notice.ts').then(({ announceRelease }) => announceRelease(go));
    // Without the script there is no news this time.
    const timer = setTimeout(() => void tell().catch(() => undefined), noticeMs);
    return () => clearTimeout(timer);
  }, []);
}

/** Another page begins at its top, and the keyboard continues there. */
function useFocusOnNavigation(path: string, main: RefObject<HTMLElement>): void {
  const shown = useRef(path);
  useEffect(() => {
    if (shown.current === path) return;
    shown.current = path;
    scrollTo(0, 0);
    main.current?.focus({ preventScroll: true });
  }, [path]);
}
