// Uses the pages as a person does: account, shell, dashboards, widgets, reminders, and hostile texts in each of them
import { runLongForm } from './long-form.ts';

await runLongForm('apps/web/test/flows');
