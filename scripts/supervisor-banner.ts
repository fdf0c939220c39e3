import { sep } from 'node:path';

export interface Running {
  address: string;
  /** Whether the address has pages for people. */
  hasPages: boolean;
  username: string;
  generatedPassword: string | null;
  dataDir: string;
  /** Folder of the embedded database; null if DATABASE_URL names another. */
  databaseFolder: string | null;
  mailServer: string | null;
  logLevel: string;
}

/** The facts for a person who has just started the service. */
export function banner(running: Running): string {
  const { address, hasPages, username, generatedPassword, dataDir, databaseFolder, mailServer, logLevel } = running;
  const rows = [
    ...(hasPages ? [['Open', `${address}/app`]] : []),
    ['Address', address],
    ['API docs', `${address}/docs`],
    ['Sign in', generatedPassword === null ? username : `${username}, password ${generatedPassword} (shown this once)`],
    ['Data', `${dataDir} ${contentsOf(dataDir, databaseFolder)}`],
    ['Mail', mailServer ?? 'no fallback server: set SMTP_HOST and SMTP_FROM, or a server for each tenant'],
    ['Log', logLevel === 'warn' ? 'warnings and errors; LOG_LEVEL=info shows every request and job' : logLevel],
    ['Stop', 'Ctrl-C'],
    ['Trouble', 'docs/operating.md explains problems with ports, the disk, the database and the clock'],
  ];
  return ['', 'Portal is running.', '', ...rows.map(([label, value]) => `  ${label?.padEnd(9)} ${value}`), ''].join(
    '\n',
  );
}

function contentsOf(dataDir: string, databaseFolder: string | null): string {
  if (databaseFolder === null) return '(files; DATABASE_URL names the database)';
  const isInside = databaseFolder.startsWith(dataDir + sep);
  return isInside ? '(files, keys and database)' : `(files and keys), database in ${databaseFolder}`;
}
