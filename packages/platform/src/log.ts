import { pino, type DestinationStream, type Logger } from 'pino';
import { describeFailure } from './failure.ts';

export type Log = Logger;

// Redacted at the top level and one level below. Paths, not patterns.
const secretFields = [
  'password',
  'newPassword',
  'currentPassword',
  'bindPassword',
  'passwordHash',
  'token',
  'tokenSecret',
  'secret',
  'cookie',
  'authorization',
  'ldapDn',
];

/**
 * The process's logger: JSON lines with a constant message and the facts in fields. `error` means that a person must act.
 * Lines are written in blocks, at least four times a second: one write per line would cost more than most requests.
 */
export const openLog = (level: string, name: 'api' | 'worker' | 'script', destination?: DestinationStream): Log =>
  pino(
    {
      level,
      base: { name },
      redact: { paths: secretFields.flatMap((field) => [field, `*.${field}`]), censor: '[secret]' },
      serializers: { err: describeFailure },
      formatters: { level: (label) => ({ level: label }) },
      timestamp: pino.stdTimeFunctions.isoTime,
    },
    destination ?? pino.destination({ dest: 1, sync: false, minLength: 4_096, periodicFlush: 250 }),
  );
