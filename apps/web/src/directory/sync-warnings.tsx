import { Status } from '../ui/status.tsx';
import { syncWords } from './sync-words.ts';
import { texts } from './texts.ts';

/** What a synchronization deliberately leaves unchanged. */
export function SyncWarnings({ warnings }: { warnings: readonly string[] }) {
  if (warnings.length === 0) return null;
  return (
    <details open={warnings.length <= 10}>
      <summary>
        <Status kind="warning">{texts.value.warnings(warnings.length)}</Status>
      </summary>
      <ul>
        {warnings.map((warning, index) => (
          <li key={index} dir="auto">
            {syncWords(warning)}
          </li>
        ))}
      </ul>
    </details>
  );
}
