import { useQuery } from '@tanstack/preact-query';
import { Download, MonitorDown } from 'lucide';
import type { DesktopLatest } from '@portal/client/interface';
import { PortalError } from '@portal/client/portal-error';
import facts from '../accounts/facts.module.css';
import profile from '../accounts/profile.module.css';
import { formatBytes } from '../language.ts';
import { portal } from '../portal.ts';
import { pageNames } from '../shell/page-names.ts';
import { Breakable } from '../ui/breakable.tsx';
import { LinkButton } from '../ui/button.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { Card, Page, Section } from '../ui/page.tsx';
import { EmptyState, QueryView } from '../ui/states.tsx';
import { Status } from '../ui/status.tsx';
import {
  choosePackages,
  type DesktopPackage,
  type Machine,
  type Processor,
  readMachine,
  type System,
} from './platform.ts';
import { texts } from './texts.ts';

/** The packages of the desktop app, the one for this computer first. */
export function DownloadsPage() {
  const t = texts.value;
  const latest = useQuery({ queryKey: ['desktop', 'latest'], queryFn: readLatest });
  const machine = useQuery({ queryKey: ['desktop', 'machine'], queryFn: readMachine, staleTime: Infinity });
  const none = (
    <EmptyState icon={MonitorDown} title={t.none}>
      {t.noneText}
    </EmptyState>
  );
  return (
    <Page title={pageNames.value.downloads} intro={t.intro}>
      <QueryView query={latest} empty={(data) => !data || data.platforms.length === 0} emptyState={none}>
        {(data) => data && machine.data && <Packages latest={data} machine={machine.data} />}
      </QueryView>
    </Page>
  );
}

/** The newest release; null if the portal offers none. */
async function readLatest({ signal }: { signal: AbortSignal }): Promise<DesktopLatest | null> {
  try {
    return await portal.get('/desktop/latest', { signal });
  } catch (error) {
    if (error instanceof PortalError && error.status === 404) return null;
    throw error;
  }
}

function Packages({ latest, machine }: { latest: DesktopLatest; machine: Machine }) {
  const t = texts.value;
  const { system } = machine;
  const { own, others } = choosePackages(latest.platforms, machine);
  return (
    <>
      <p>{t.version(latest.version, latest.channel)}</p>
      {system === null && <Status kind="info">{t.noComputer}</Status>}
      {system !== null && own.length === 0 && <Status kind="info">{t.noneForYou(t.systems[system])}</Status>}
      {own.length > 0 && (
        <Section title={own.length > 1 ? t.which : t.forYou}>
          {system !== null && own.length > 1 && <p>{t.whichText[system]}</p>}
          <Cards packages={own} isOwn />
        </Section>
      )}
      {others.length > 0 && (
        <Section title={own.length > 0 ? t.others : t.all}>
          <Cards packages={others} />
        </Section>
      )}
      <p>{t.checksumText}</p>
    </>
  );
}

const Cards = ({ packages, isOwn = false }: { packages: readonly DesktopPackage[]; isOwn?: boolean }) => (
  <div class={profile.cards}>
    {packages.map((each) => (
      <PackageCard key={each.platform} package={each} isOwn={isOwn} />
    ))}
  </div>
);

function PackageCard({
  package: { platform, fileName, sizeBytes, sha256, signed },
  isOwn,
}: {
  package: DesktopPackage;
  isOwn: boolean;
}) {
  const t = texts.value;
  const name = nameOf(platform);
  return (
    <Card title={name} level={3}>
      <div>
        {/* At this origin, regardless of the public address in the settings. A download is no page of the router. */}
        <LinkButton
          href={`/desktop/download/${encodeURIComponent(platform)}`}
          kind={isOwn ? 'primary' : 'secondary'}
          icon={Download}
          download={fileName}
        >
          {isOwn ? t.downloadFor(name) : t.download}
        </LinkButton>
      </div>
      <Status kind={signed ? 'ok' : 'warning'}>{signed ? t.signed : t.unsigned}</Status>
      <dl class={facts.facts}>
        <div>
          <dt>{t.file}</dt>
          <dd>
            <Breakable>{fileName}</Breakable>
          </dd>
        </div>
        <div>
          <dt>{t.size}</dt>
          <dd>{formatBytes(sizeBytes)}</dd>
        </div>
      </dl>
      <details>
        <summary>{t.checksum}</summary>
        <p>
          <code>{sha256}</code>
        </p>
        <CopyButton text={sha256}>{t.copy}</CopyButton>
      </details>
    </Card>
  );
}

function nameOf(platform: DesktopPackage['platform']): string {
  const t = texts.value;
  const [system, processor] = platform.split('-') as [System, Processor];
  return `${t.systems[system]}, ${t.processors[system][processor]}`;
}
