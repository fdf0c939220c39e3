import { parse } from 'bowser';
import type { BugReport } from '@portal/domain/support/bug-reports';

// Browsers send less than half of it; what is longer is nobody's user agent, and would keep us searching.
const maxUserAgent = 512;

/** Where a report comes from, word for word: `Desktop 1.4.2 windows`, or what the user agent tells, `Web Chrome 142 Windows`. */
export function reportOrigin(
  { originKind, originVersion, originPlatform }: BugReport,
  userAgent: string | null,
): string[] {
  const { browser, system } = readUserAgent(userAgent);
  // The browser inside a desktop app says nothing of the app.
  const [kind, usual] = originKind === 'desktop' ? ['Desktop', ''] : ['Web', browser];
  return [kind, originVersion || usual, originPlatform || system].filter((word) => word !== '');
}

function readUserAgent(userAgent: string | null): { browser: string; system: string } {
  if (!userAgent) return { browser: '', system: '' };
  const { browser, os } = parse(userAgent.slice(0, maxUserAgent));
  const major = browser.version?.split('.')[0] ?? '';
  return { browser: [browser.name ?? '', major].filter((word) => word !== '').join(' '), system: os.name ?? '' };
}
