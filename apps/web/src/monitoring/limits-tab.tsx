import { Card } from '../ui/page.tsx';
import { Table } from '../ui/table.tsx';
import { texts } from './limit-texts.ts';
import { type LimitedRule, rulesOf } from './limits.ts';
import type { ServerKind } from './servers.ts';
import { texts as pageTexts } from './texts.ts';

/** What is a warning and what is critical, for each rule of this kind of server. */
export function LimitsTab({ kind }: { kind: ServerKind }) {
  const t = texts.value;
  const rules: readonly LimitedRule[] = rulesOf[kind];
  const title = t.title(pageTexts.value.kinds[kind]);
  return (
    <Card title={title}>
      <p>{t.counts}</p>
      <p>{t.unknown}</p>
      <Table
        caption={title}
        columns={[
          { key: 'rule', label: t.rule, cell: (rule) => t.rules[rule][0] },
          { key: 'warning', label: t.warning, cell: (rule) => t.rules[rule][1] },
          { key: 'critical', label: t.critical, cell: (rule) => t.rules[rule][2] },
        ]}
        rows={rules}
        rowKey={(rule) => rule}
        empty={null}
      />
    </Card>
  );
}
