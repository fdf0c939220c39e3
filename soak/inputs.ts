// 2,000 inputs for every route, good bodies changed and bytes at random under twisted content types: no 5xx, p99 of 200 ms at most
import { runLongForm } from './long-form.ts';

await runLongForm('apps/api/test/inputs.test.ts');
