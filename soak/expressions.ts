// Every regular expression of the product against strings of 100 kB that make some of them try again and again
import { runLongForm } from './long-form.ts';

await runLongForm('scripts/expressions.test.ts');
