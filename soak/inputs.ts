// Sends 2,000 inputs to every route, mutated bodies and random bytes under odd content types: no 5xx, p99 of 200 ms at most
import { runLongForm } from './long-form.ts';

await runLongForm('apps/api/test/inputs.test.ts');
