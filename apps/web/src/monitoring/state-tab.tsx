import type { ComponentChildren } from 'preact';
import type { Server } from '@portal/client/interface';
import factsStyle from '../accounts/facts.module.css';
import profile from '../accounts/profile.module.css';
import { texts as findingTexts } from '../dashboards/widgets/findings-texts.ts';
import { Finding, NotExaminedItem } from '../dashboards/widgets/server-findings.tsx';
import { serverStatus } from '../dashboards/widgets/server-states.ts';
import { texts as statusTexts } from '../dashboards/widgets/status-texts.ts';
import tile from '../dashboards/widgets/tile.module.css';
import { countStates } from '../dashboards/widgets/worst-first.ts';
import formStyle from '../ui/form.module.css';
import { Card } from '../ui/page.tsx';
import { Status } from '../ui/status.tsx';
import { Time } from '../ui/time.tsx';
import { FailureAdvice, RightsAdvice } from './failure-advice.tsx';
import { rulesByArea, tellsOfRights, usagesOf } from './rule-areas.ts';
import { listOrder } from './server-filter.ts';
import { factLabel, factValue, StateMark } from './server-words.tsx';
import type { Fact as ReadFact, Rule } from './servers.ts';
import { texts } from './texts.ts';
import { UsageBars } from './usage-bars.tsx';

/** How a server is: what needs attention and what to do about it, its figures, and all findings by part. */
export function StateTab({ server }: { server: Server }) {
  const t = texts.value;
  const { kind, status, isActive } = server;
  const { failure, facts, rules, lastOkAt, checkedAt } = status;
  const open = rules.filter(({ state }) => state !== 'ok');
  const usages = usagesOf(rules, kind);
  const lacksRights =
    failure !== 'rechte' &&
    [...rules.map(({ text }) => text), ...status.notExamined.items.map(({ why }) => why)].some(tellsOfRights);
  return (
    <>
      <Verdict server={server} />
      {isActive && checkedAt !== null && (open.length > 0 || failure === null) && (
        <Card title={t.open}>
          {failure !== null && lastOkAt !== null && (
            <p class={profile.note}>
              {t.oldFindings} <Time value={lastOkAt} />
            </p>
          )}
          <Findings rules={open} />
          {open.length === 0 && failure === null && <Status kind="ok">{t.allFine}</Status>}
        </Card>
      )}
      {lacksRights && (
        <Card title={t.rightsTitle}>
          <p>{t.rightsText}</p>
          <RightsAdvice kind={kind} account={accountOf(server)} />
        </Card>
      )}
      <div class={profile.cards}>
        {facts.length > 0 && (
          <Card title={t.figures}>
            <Figures facts={facts} />
          </Card>
        )}
        {usages.length > 0 && (
          <Card title={t.stores}>
            <UsageBars usages={usages} readAt={lastOkAt} />
            <AsOf at={lastOkAt} />
          </Card>
        )}
        {rulesByArea(rules).map(({ area, rules }) => (
          <Card key={area} title={t.areas[area]}>
            <Area rules={rules} />
            <AsOf at={lastOkAt} />
          </Card>
        ))}
      </div>
      <NotExamined server={server} />
    </>
  );
}

const accountOf = ({ authMethod, tokenId, username }: Server): string | null =>
  authMethod === 'token' ? tokenId : username;

function Verdict({ server }: { server: Server }) {
  const t = texts.value;
  const { kind, address, authMethod, isActive, pollIntervalMin, status } = server;
  const { state, failure, message, checkedAt, lastOkAt } = status;
  return (
    <Card>
      <div>
        <StateMark state={isActive ? state : 'off'} />
      </div>
      {!isActive && <p>{t.offText}</p>}
      {isActive && checkedAt === null && <p>{t.firstSoon}</p>}
      {failure !== null && <FailureAdvice {...{ failure, kind, authMethod, message }} account={accountOf(server)} />}
      <dl class={factsStyle.facts}>
        <Fact label={t.kind}>{t.kinds[kind]}</Fact>
        <Fact label={t.address}>
          <a href={address} target="_blank" rel="noreferrer">
            {address}
          </a>
        </Fact>
        <Fact label={t.checked}>{checkedAt === null ? t.never : <Time value={checkedAt} style="relative" />}</Fact>
        <Fact label={t.lastOk}>{lastOkAt === null ? t.neverGood : <Time value={lastOkAt} />}</Fact>
        <Fact label={t.interval}>{t.minutes(pollIntervalMin)}</Fact>
      </dl>
    </Card>
  );
}

const Fact = ({ label, children }: { label: string; children: ComponentChildren }) => (
  <div>
    <dt>{label}</dt>
    <dd>{children}</dd>
  </div>
);

function Figures({ facts }: { facts: readonly ReadFact[] }) {
  const t = texts.value;
  const [first] = facts;
  const isOneTime = facts.every(({ readAt }) => readAt === first?.readAt);
  return (
    <>
      <dl class={factsStyle.facts}>
        {facts.map((fact) => (
          <Fact key={fact.key} label={factLabel(fact)}>
            {factValue(fact)}
            {!isOneTime && (
              <>
                {' '}
                ({t.readAt} <Time value={fact.readAt} style="relative" />)
              </>
            )}
          </Fact>
        ))}
      </dl>
      {isOneTime && first && <AsOf at={first.readAt} />}
    </>
  );
}

/** When what stands above was read. */
const AsOf = ({ at }: { at: string | null }) =>
  at === null ? null : (
    <p class={profile.note}>
      {texts.value.asOf} <Time value={at} />
    </p>
  );

const Findings = ({ rules }: { rules: readonly Rule[] }) =>
  rules.length === 0 ? null : (
    <ul class={tile.list}>
      {rules.map((rule) => (
        <Finding key={rule.key} rule={rule} />
      ))}
    </ul>
  );

/** The findings of one part: how many are in each state, and each of them on demand. */
function Area({ rules }: { rules: readonly Rule[] }) {
  const counts = countStates(
    rules.map(({ state }) => state),
    listOrder.filter((state) => state !== 'off'),
  );
  return (
    <details>
      <summary>
        <span class={formStyle.actions} style={{ display: 'inline-flex' }}>
          {counts.map(({ state, count }) => (
            <Status key={state} kind={serverStatus[state]}>
              {statusTexts.value.serverCounts[state](count)}
            </Status>
          ))}
        </span>
      </summary>
      <Findings rules={rules} />
    </details>
  );
}

/** The first entries only; the number counts all. */
function NotExamined({ server: { status } }: { server: Server }) {
  const { count, items } = status.notExamined;
  if (count === 0) return null;
  return (
    <Card title={findingTexts.value.notExamined(count)}>
      <ul>
        {items.map((item) => (
          <NotExaminedItem key={item.what} item={item} />
        ))}
        {count > items.length && <li>{texts.value.notExaminedRest(count - items.length)}</li>}
      </ul>
    </Card>
  );
}
