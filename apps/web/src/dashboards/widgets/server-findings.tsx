import { useQuery } from '@tanstack/preact-query';
import type { Server } from '@portal/client/interface';
import { Dialog } from '../../ui/dialog.tsx';
import { QueryView } from '../../ui/states.tsx';
import { Status } from '../../ui/status.tsx';
import { Time } from '../../ui/time.tsx';
import { sentenceOf, texts } from './findings-texts.ts';
import type { NotExamined } from './german-not-examined.ts';
import { serverStatus } from './server-states.ts';
import { serversQuery } from './servers-query.ts';
import { texts as statusTexts } from './status-texts.ts';
import css from './status.module.css';
import tile from './tile.module.css';

type Rule = Server['status']['rules'][number];

interface Props {
  id: string;
  onClose: () => void;
}

/** What the last check of a server found, the worst first. */
export function ServerFindings({ id, onClose }: Props) {
  const t = texts.value;
  const servers = useQuery(serversQuery);
  const server = servers.data?.find((one) => one.id === id);
  return (
    <Dialog title={server?.name ?? t.title} label={server && t.titleOf(server.name)} onClose={onClose}>
      <QueryView query={servers} empty={() => false}>
        {() => (server ? <Findings server={server} /> : <p class={tile.quiet}>{t.gone}</p>)}
      </QueryView>
    </Dialog>
  );
}

function Findings({ server: { address, status } }: { server: Server }) {
  const t = texts.value;
  const { state, failure, message, checkedAt, lastOkAt, rules, notExamined } = status;
  const open = rules.filter((rule) => rule.state !== 'ok');
  const fine = rules.length - open.length;
  return (
    <div class={css.findings}>
      <p class={css.head}>
        <Status kind={serverStatus[state]}>{statusTexts.value.serverStates[state]}</Status>
        <span class={tile.muted}>{address}</span>
      </p>
      {failure !== null && (
        <p>
          {statusTexts.value.failures[failure]} {message !== null && <span lang="en">{message}</span>}
        </p>
      )}
      <p class={tile.muted}>
        {statusTexts.value.checked}{' '}
        {checkedAt === null ? statusTexts.value.neverChecked : <Time value={checkedAt} style="relative" />}
        {failure !== null && lastOkAt !== null && (
          <>
            {' · '}
            {t.lastOk} <Time value={lastOkAt} />
          </>
        )}
      </p>
      <ul class={tile.list}>
        {open.map((rule) => (
          <Finding key={rule.key} rule={rule} />
        ))}
      </ul>
      {fine > 0 && <Status kind="ok">{t.fine(fine)}</Status>}
      {notExamined.count > 0 && (
        <details>
          <summary>{t.notExamined(notExamined.count)}</summary>
          <ul>
            {notExamined.items.map((item) => (
              <NotExaminedItem key={item.what} item={item} />
            ))}
          </ul>
        </details>
      )}
    </div>
  );
}

/** What was left out, and why. */
export function NotExaminedItem({ item }: { item: NotExamined }) {
  const words = texts.value.notExaminedItem(item);
  // The words of the service are English.
  return words === null ? <li lang="en">{`${item.what}: ${item.why}`}</li> : <li>{words}</li>;
}

/** One finding: its state, what was found, and since when. */
export function Finding({ rule }: { rule: Rule }) {
  const { state, since, text } = rule;
  const sentence = sentenceOf(rule);
  return (
    <li class={tile.row}>
      <Status kind={serverStatus[state]}>{statusTexts.value.serverStates[state]}</Status>
      <div class={tile.main}>
        <span>{sentence.text}</span>
        {/* The sentences of the service are English. */}
        {!sentence.isWhole && <span lang="en">{text}</span>}
        <span class={tile.muted}>
          {texts.value.since} <Time value={since} />
        </span>
      </div>
    </li>
  );
}
