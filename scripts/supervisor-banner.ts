import { sep } from 'node:path';

export interface Running {
  address: string;
  username: string;
  generatedPassword: string | null;
  dataDir: string;
  /** Where the embedded database lies; null when DATABASE_URL names another. */
  databaseFolder: string | null;
  mailServer: string | null;
  logLevel: string;
}

/** What a person who just started the service wants to know. */
export function banner(running: Running): string {
  const { address, username, generatedPassword, dataDir, databaseFolder, mailServer, logLevel } = running;
  const rows = [
    ['Address', address],
    ['API docs', `${address}/docs`],
    ['Sign in', generatedPassword === null ? username : `${username}, password ${generatedPassword} (shown this once)`],
    ['Data', `${dataDir} ${whatLiesThere(dataDir, databaseFolder)}`],
    ['Mail', mailServer ?? 'no fallback server: set SMTP_HOST and SMTP_FROM, or a server for each tenant'],
    ['Log', logLevel === 'warn' ? 'warnings and errors; LOG_LEVEL=info shows every request and job' : logLevel],
    ['Stop', 'Ctrl-C'],
    ['Trouble', 'docs/operating.md says what to do when a port, the disk, the database or the clock gives it'],
  ];
  return ['', 'Portal is running.', '', ...rows.map(([label, value]) => `  ${label?.padEnd(9)} ${value}`), ''].join(
    '\n',
  );
}

function whatLiesThere(dataDir: string, databaseFolder: string | null): string {
  if (databaseFolder === null) return '(files; the database is that of DATABASE_URL)';
  const isInside = databaseFolder.startsWith(dataDir + sep);
  return isInside ? '(files, keys and database)' : `(files and keys), database in ${databaseFolder}`;
}
