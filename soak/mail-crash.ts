// Kills the worker at 50 random instants while 2,000 mails go out: none lost, repeats only where SMTP leaves a gap
import { crashRun } from './crash-run.ts';

await crashRun('outbox', { mails: 2_000, kills: 50 });
