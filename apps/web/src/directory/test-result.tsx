import type { LdapTest } from '@portal/client/interface';
import profile from '../accounts/profile.module.css';
import { Card } from '../ui/page.tsx';
import { Status } from '../ui/status.tsx';
import { Table } from '../ui/table.tsx';
import { DirectoryFailed } from './directory-failed.tsx';
import { texts } from './texts.ts';

/** What a test of the settings found. */
export function TestResult({ result }: { result: LdapTest }) {
  const t = texts.value;
  const { ok, error, serverType, userCount, isCountComplete, sample } = result;
  return (
    <Card title={t.test}>
      {!ok && <DirectoryFailed message={error?.message ?? ''} />}
      {ok && (
        <Status kind="ok">
          {t.testOk(
            t.serverTypes[serverType ?? 'other'],
            isCountComplete ? t.users(userCount) : t.usersAtLeast(userCount),
          )}
        </Status>
      )}
      {ok && userCount === 0 && <Status kind="warning">{t.noUsers}</Status>}
      {sample.length > 0 && (
        <>
          <p class={profile.note}>{t.sampleHint}</p>
          <Table
            caption={t.sample}
            columns={[
              { key: 'username', label: t.username, cell: ({ username }) => username ?? t.noUsername },
              { key: 'displayName', label: t.displayName, cell: ({ displayName }) => displayName ?? '–' },
              { key: 'mail', label: t.mail, cell: ({ mail }) => mail ?? '–' },
            ]}
            rows={sample}
            rowKey={({ username, displayName, mail }) => JSON.stringify([username, displayName, mail])}
            empty={null}
          />
        </>
      )}
    </Card>
  );
}
