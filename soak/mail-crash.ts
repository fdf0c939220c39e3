// Kills the worker at 50 random instants while it sends 2,000 mails: none is lost, and only SMTP's gap causes repeats
import { crashRun } from './crash-run.ts';

await crashRun('outbox', { mails: 2_000, kills: 50 });
