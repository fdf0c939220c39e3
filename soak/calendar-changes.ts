// Reads every calendar sample with 200 changes of bytes and lines each: each takes at most a second, and none is lost without a message
import { runLongForm } from './long-form.ts';

await runLongForm('packages/usecases/src/calendar/reading/changed-files.test.ts');
