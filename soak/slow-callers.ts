// 2,000 callers that write headers and bodies a byte a second or take nothing: others at most twice as slow, all hung up on within 30 s
import { runLongForm } from './long-form.ts';

await runLongForm('apps/api/test/attacks/slow-callers.test.ts');
