// Kills the worker at 200 random instants while 20,000 reminders are mailed: none lost, repeats only where SMTP leaves a gap
import { crashRun } from './crash-run.ts';

await crashRun('reminders', { mails: 20_000, kills: 200 });
