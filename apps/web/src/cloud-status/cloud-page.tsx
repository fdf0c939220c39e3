import { ArrowLeft, Bell, BellRing, CloudOff, Pencil, RotateCw, Trash2 } from 'lucide';
import type { ComponentChildren } from 'preact';
import { useLocation } from 'preact-iso/router';
import { useState } from 'preact/hooks';
import type { CloudInstance } from '@portal/client/interface';
import facts from '../accounts/facts.module.css';
import profile from '../accounts/profile.module.css';
import { paramsAt } from '../routes.ts';
import { useManages } from '../shell/modules.ts';
import { pageNames } from '../shell/page-names.ts';
import { Button, LinkButton } from '../ui/button.tsx';
import { Card, Page } from '../ui/page.tsx';
import { EmptyState, QueryView } from '../ui/states.tsx';
import { Status } from '../ui/status.tsx';
import { Time } from '../ui/time.tsx';
import { CloudDialog } from './cloud-dialog.tsx';
import { listPath } from './cloud-filter.ts';
import { CloudLogo } from './cloud-logo.tsx';
import s from './cloud-status.module.css';
import { failureWord, isStale, kinds, lightWord, reasonWords } from './cloud-words.ts';
import { checkCloud, toggleSubscription, underCheck, useClouds, useMailTrouble } from './clouds.ts';
import { DeleteDialog } from './delete-dialog.tsx';
import { LogoCard } from './logo-card.tsx';
import { Sentence } from './sentence.tsx';
import { SupportLegend, SupportLine } from './support-line.tsx';
import { texts } from './texts.ts';
import { Transitions } from './transitions.tsx';

/** One cloud: its state and why, its version and support, and its history. */
export function CloudPage() {
  const t = texts.value;
  const { path, route: go } = useLocation();
  const { id = '' } = paramsAt(path);
  const clouds = useClouds();
  const manages = useManages('cloud-status') ?? false;
  const [dialog, setDialog] = useState<'edit' | 'delete' | null>(null);
  const cloud = clouds.data?.find((one) => one.id === id);
  const close = () => setDialog(null);
  return (
    <Page
      title={cloud?.customerName ?? pageNames.value.cloudStatus}
      intro={
        <LinkButton href={listPath} icon={ArrowLeft} size="small">
          {t.allClouds}
        </LinkButton>
      }
      actions={
        cloud && (
          <>
            <Button
              icon={cloud.subscribed ? BellRing : Bell}
              aria-pressed={cloud.subscribed}
              onClick={() => toggleSubscription(cloud)}
            >
              {t.subscribe}
            </Button>
            <Button icon={RotateCw} busy={underCheck.value.has(id)} onClick={() => void checkCloud(cloud)}>
              {t.check}
            </Button>
            {manages && (
              <>
                <Button icon={Pencil} onClick={() => setDialog('edit')}>
                  {t.edit}
                </Button>
                <Button icon={Trash2} onClick={() => setDialog('delete')}>
                  {t.delete}
                </Button>
              </>
            )}
          </>
        )
      }
    >
      <QueryView query={clouds}>
        {() =>
          cloud ? (
            <Parts cloud={cloud} manages={manages} />
          ) : (
            <EmptyState icon={CloudOff} title={t.notFound}>
              {t.notFoundText}
            </EmptyState>
          )
        }
      </QueryView>
      {cloud && dialog === 'edit' && <CloudDialog cloud={cloud} onClose={close} />}
      {cloud && dialog === 'delete' && (
        <DeleteDialog cloud={cloud} onDeleted={() => go(listPath, true)} onClose={close} />
      )}
    </Page>
  );
}

function Parts({ cloud, manages }: { cloud: CloudInstance; manages: boolean }) {
  const t = texts.value;
  return (
    <>
      <div class={profile.cards}>
        <State cloud={cloud} />
        <Version cloud={cloud} />
      </div>
      <Card title={t.history}>
        <p class={s.muted}>{t.historyIntro}</p>
        <Transitions key={cloud.reportedState} instanceId={cloud.id} />
      </Card>
      {manages && <LogoCard cloud={cloud} />}
    </>
  );
}

function State({ cloud }: { cloud: CloudInstance }) {
  const t = texts.value;
  const { light, message, statusUrl, checkedAt, lastOkAt, consecutiveFailures, isActive, subscribed } = cloud;
  const trouble = useMailTrouble(subscribed);
  const failure = failureWord(cloud);
  return (
    <Card
      title={
        <>
          <CloudLogo cloud={cloud} />
          {t.state}
        </>
      }
      actions={<Status kind={kinds[light]}>{lightWord(cloud)}</Status>}
    >
      <ul>
        {reasonWords(cloud).map((reason) => (
          <li key={reason}>{reason}</li>
        ))}
      </ul>
      {failure !== null && <p>{failure}</p>}
      {message !== null && (
        <p>
          {t.message} <Sentence>{message}</Sentence>
        </p>
      )}
      {isStale(cloud) && <Status kind="warning">{t.stale}</Status>}
      {trouble && <Status kind="warning">{t.noMails[trouble]}</Status>}
      <dl class={facts.facts}>
        <Fact label={t.address}>
          <a href={statusUrl} target="_blank" rel="noreferrer">
            {statusUrl} {t.openCloud}
          </a>
        </Fact>
        <Fact label={t.monitored}>{isActive ? t.yes : t.no}</Fact>
        <Fact label={t.lastCheck}>{checkedAt === null ? t.never : <Time value={checkedAt} />}</Fact>
        <Fact label={t.lastOk}>{lastOkAt === null ? t.never : <Time value={lastOkAt} />}</Fact>
        {consecutiveFailures > 0 && <Fact label={t.failures}>{consecutiveFailures}</Fact>}
      </dl>
    </Card>
  );
}

function Version({ cloud }: { cloud: CloudInstance }) {
  const t = texts.value;
  const { productName, version, latestVersion, versionAssessment, isMaintenance, needsDbUpgrade, checkedAt } = cloud;
  const isKnown = checkedAt !== null;
  const yesNo = (value: boolean) => (isKnown ? (value ? t.yes : t.no) : t.unknown);
  return (
    <Card title={`${t.version} · ${t.support}`}>
      <SupportLine cloud={cloud} />
      {cloud.supportEndsAt === null ? isKnown && <p class={s.muted}>{t.supportUnknownText}</p> : <SupportLegend />}
      <dl class={facts.facts}>
        <Fact label={t.product}>{productName ?? t.unknown}</Fact>
        <Fact label={t.version}>{version ?? t.unknown}</Fact>
        <Fact label={t.latestVersion}>{latestVersion ?? t.unknown}</Fact>
        <Fact label={t.assessment}>{t.assessments[versionAssessment]}</Fact>
        <Fact label={t.maintenance}>{yesNo(isMaintenance)}</Fact>
        <Fact label={t.upgrade}>{yesNo(needsDbUpgrade)}</Fact>
      </dl>
      {isKnown && versionAssessment === 'unknown' && <p class={s.muted}>{t.versionHiddenText}</p>}
    </Card>
  );
}

const Fact = ({ label, children }: { label: string; children: ComponentChildren }) => (
  <div>
    <dt>{label}</dt>
    <dd dir="auto">{children}</dd>
  </div>
);
