import { useQuery } from '@tanstack/preact-query';
import { useEffect, useState } from 'preact/hooks';
import { formatDate, language } from '../language.ts';
import { pageNames } from '../shell/page-names.ts';
import { Badge } from '../ui/badge.tsx';
import { Card, Page } from '../ui/page.tsx';
import { QueryView } from '../ui/states.tsx';
import { showToast } from '../ui/toast.tsx';
import { markSeen, releaseNotice } from './release-queries.ts';
import { notesFor, type Release } from './releases.ts';
import { texts } from './texts.ts';

/** What is new in the running release and in those before it. Who opens the page has seen it. */
export function WhatsNewPage() {
  const t = texts.value;
  const notice = useQuery({ ...releaseNotice, staleTime: 0 });
  const { running, isNew } = notice.data ?? {};
  const version = running?.version;
  // It stays marked while the person reads it.
  const [wasNew, setWasNew] = useState(false);
  useEffect(() => {
    if (!isNew || version === undefined) return;
    setWasNew(true);
    markSeen(version).catch(() => showToast(texts.value.seenFailed, { kind: 'error' }));
  }, [isNew, version]);
  return (
    <Page title={pageNames.value.whatsNew}>
      <QueryView query={notice}>
        {({ running: { version, channel } }) => {
          const { current, earlier } = notesFor(version);
          return (
            <>
              <p>{version === 'dev' ? t.development : t.running(version, channel)}</p>
              <ReleaseCard
                title={version === 'dev' ? t.upcoming : t.version(version)}
                release={current}
                isNew={wasNew || isNew === true}
              />
              {earlier.map((release) => (
                <ReleaseCard key={release.version} title={t.version(release.version ?? '')} release={release} />
              ))}
            </>
          );
        }}
      </QueryView>
    </Page>
  );
}

interface ReleaseCardProps {
  title: string;
  release: Release | null;
  isNew?: boolean;
}

function ReleaseCard({ title, release, isNew = false }: ReleaseCardProps) {
  const t = texts.value;
  return (
    <Card title={title} actions={isNew && <Badge kind="accent">{t.isNew}</Badge>}>
      {release?.date && <p>{formatDate(release.date)}</p>}
      {release ? (
        <ul>
          {release.notes[language.value].map((note) => (
            <li key={note}>{note}</li>
          ))}
        </ul>
      ) : (
        <p>{t.noNotes}</p>
      )}
    </Card>
  );
}
