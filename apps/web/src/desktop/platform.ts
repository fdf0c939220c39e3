import type { DesktopLatest } from '@portal/client/interface';

export type DesktopPackage = DesktopLatest['platforms'][number];

export type System = 'windows' | 'darwin' | 'linux';
export type Processor = 'x86_64' | 'aarch64';

/** What this browser tells of its machine. */
export interface Machine {
  /** Null for phones, tablets and systems without an app. */
  system: System | null;
  /** Null if the browser keeps it to itself, as on a Mac. */
  processor: Processor | null;
}

export interface BrowserSigns {
  userAgent: string;
  maxTouchPoints: number;
  /** Chromium's own statement: `arm` or `x86`. */
  architecture?: string | undefined;
}

export function machineOf({ userAgent, maxTouchPoints, architecture }: BrowserSigns): Machine {
  const system = systemOf(userAgent, maxTouchPoints);
  const processor = system && processorOf(userAgent, system, architecture);
  return { system, processor };
}

function systemOf(userAgent: string, maxTouchPoints: number): System | null {
  if (/android|iphone|ipad|ipod|cros/i.test(userAgent)) return null;
  if (/windows nt/i.test(userAgent)) return 'windows';
  // A tablet of the same maker says that it is a Mac, but no Mac has a touch screen.
  if (/macintosh/i.test(userAgent)) return maxTouchPoints > 1 ? null : 'darwin';
  return /linux/i.test(userAgent) ? 'linux' : null;
}

function processorOf(userAgent: string, system: System, architecture: string | undefined): Processor | null {
  if (architecture === 'arm') return 'aarch64';
  if (architecture === 'x86') return 'x86_64';
  // Every Mac says “Intel”.
  if (system === 'darwin') return null;
  if (/aarch64|arm64/i.test(userAgent)) return 'aarch64';
  return /x86_64|x64|win64|wow64/i.test(userAgent) ? 'x86_64' : null;
}

/** The packages for this machine, several if the processor is not known, and all others. */
export function choosePackages(packages: readonly DesktopPackage[], { system, processor }: Machine) {
  const fits = ({ platform }: DesktopPackage) =>
    system !== null && (processor === null ? platform.startsWith(`${system}-`) : platform === `${system}-${processor}`);
  return { own: packages.filter(fits), others: packages.filter((each) => !fits(each)) };
}

interface UserAgentData {
  getHighEntropyValues: (hints: string[]) => Promise<{ architecture?: string }>;
}

/** What this browser tells of its machine, asked as exactly as it allows. */
export async function readMachine(): Promise<Machine> {
  const { userAgent, maxTouchPoints } = navigator;
  const data = (navigator as { userAgentData?: UserAgentData }).userAgentData;
  const values = await data?.getHighEntropyValues(['architecture']).catch(() => undefined);
  return machineOf({ userAgent, maxTouchPoints, architecture: values?.architecture });
}
