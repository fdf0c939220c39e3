// Kills the worker at 200 random instants while it mails 20,000 reminders: none is lost, and only SMTP's gap causes repeats
import { crashRun } from './crash-run.ts';

await crashRun('reminders', { mails: 20_000, kills: 200 });
