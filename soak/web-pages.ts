// Opens every page in both languages, both themes and both widths: nothing that axe finds, no sideways scroll, nothing in the console
import { runLongForm } from './long-form.ts';

await runLongForm('apps/web/test/pages.test.ts');
