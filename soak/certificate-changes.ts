// Every sample of certificates and keys, with 200 changes of bytes each: read within a second, and never lost as a whole without a word
import { runLongForm } from './long-form.ts';

await runLongForm('packages/usecases/src/certificates/changed-files.test.ts');
