// Reads every certificate and key sample with 200 changes of bytes each: each takes at most a second, and none is lost without a message
import { runLongForm } from './long-form.ts';

await runLongForm('packages/usecases/src/certificates/changed-files.test.ts');
