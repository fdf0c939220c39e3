import type { ServerTestResult } from '@portal/client/interface';
import { Card } from '../ui/page.tsx';
import { Status } from '../ui/status.tsx';
import { FailureAdvice } from './failure-advice.tsx';
import { texts } from './form-texts.ts';
import { methodOf, type ServerDraft } from './server-draft.ts';

interface TestResultProps {
  /** What was tested. */
  draft: ServerDraft;
  result: ServerTestResult;
  isOld: boolean;
}

/** What a test of the settings found. */
export function TestResult({ draft, result: { ok, failure, version, message }, isOld }: TestResultProps) {
  const t = texts.value;
  return (
    <Card title={t.test} level={3}>
      {isOld && <p>{t.testOld}</p>}
      {ok && <Status kind="ok">{t.testOk(version)}</Status>}
      {failure !== null && (
        <FailureAdvice
          failure={failure}
          kind={draft.kind}
          authMethod={methodOf(draft)}
          account={methodOf(draft) === 'token' ? draft.tokenId : draft.username}
          message={message}
        />
      )}
    </Card>
  );
}
