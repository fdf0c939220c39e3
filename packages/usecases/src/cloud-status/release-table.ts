import { readFile, stat } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { isOutdated, ReleaseTable } from '@portal/domain/cloud-status/releases';
import { DAY } from '@portal/domain/time';
import type { Log } from '@portal/platform/log';
import type { Metrics } from '@portal/platform/metrics';
import { resource } from '@portal/platform/resource';

const shippedFile = fileURLToPath(new URL('releases.json', import.meta.url));

const maxFileBytes = 1024 * 1024;

interface OpenTable {
  /** The current table. If the file is broken or missing, returns the last good table, at first the shipped one. */
  read(): Promise<ReleaseTable>;
}

/** The table of releases in a file, read again when the file changes. */
export function openReleaseTable(file: string | null, { log, metrics }: { log: Log; metrics: Metrics }): OpenTable {
  const path = file ?? shippedFile;
  let table: ReleaseTable | null = null;
  let lastStamp: string | null = null;
  let warnedAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<ReleaseTable> | null = null;

  async function readCurrent(): Promise<ReleaseTable> {
    const stamp = await stampOf(path);
    if (!table || stamp !== lastStamp) {
      lastStamp = stamp;
      warnedAt = Number.NEGATIVE_INFINITY;
      const read = await tableIn(path).catch((error: unknown) => {
        log.warn({ err: error, file: path }, 'the table of cloud releases cannot be read; an earlier one is used');
        return null;
      });
      metrics.setReleaseTableTrouble('unreadable', read === null);
      table = read ?? table ?? (await tableIn(shippedFile));
    }
    warnOfAge(table);
    return table;
  }

  /** Logs at most once a day. */
  function warnOfAge(read: ReleaseTable): void {
    const now = Date.now();
    const isOld = isOutdated(read, new Date(now));
    metrics.setReleaseTableTrouble('outdated', isOld);
    if (!isOld || now - warnedAt < DAY) return;
    warnedAt = now;
    log.warn({ file: path, updatedAt: read.updatedAt }, 'the table of cloud releases is older than 60 days');
  }

  return {
    // Concurrent callers share one read.
    read: () => (reading ??= readCurrent().finally(() => (reading = null))),
  };
}

/** Changes if the file is replaced or written to; null if there is no file. */
async function stampOf(path: string): Promise<string | null> {
  const facts = await stat(path, { bigint: true }).catch(() => null);
  return facts && `${facts.ino}/${facts.size}/${facts.mtimeNs}`;
}

async function tableIn(path: string): Promise<ReleaseTable> {
  const { size } = await stat(path);
  if (size > maxFileBytes) throw new Error('the file is far too large for a table of releases');
  return ReleaseTable.parse(JSON.parse(await readFile(path, 'utf8')));
}

/** The table of this process. */
export const releaseTable = resource((process) => openReleaseTable(process.config.cloudReleasesFile, process));
