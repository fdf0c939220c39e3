// Opens 2,000 connections that send a byte a second or read nothing: other calls take at most twice as long, and all are closed within 30 s
import { runLongForm } from './long-form.ts';

await runLongForm('apps/api/test/attacks/slow-callers.test.ts');
