// Every sample of a calendar, with 200 changes of bytes and lines each: read within a second, and never lost as a whole without a word
import { runLongForm } from './long-form.ts';

await runLongForm('packages/usecases/src/calendar/reading/changed-files.test.ts');
