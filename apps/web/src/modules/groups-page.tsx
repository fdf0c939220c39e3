import { useQuery } from '@tanstack/preact-query';
import { Pencil, Plus, Trash, UsersRound } from 'lucide';
import { useLocation } from 'preact-iso/router';
import { useState } from 'preact/hooks';
import type { Group } from '@portal/client/interface';
import { compareText, formatNumber } from '../language.ts';
import { addressOf } from '../shell/address.ts';
import { pageNames } from '../shell/page-names.ts';
import { Badge } from '../ui/badge.tsx';
import { Button, IconButton } from '../ui/button.tsx';
import { Page } from '../ui/page.tsx';
import { EmptyState, QueryView } from '../ui/states.tsx';
import { type Column, Table } from '../ui/table.tsx';
import s from './administration.module.css';
import { DeleteGroupDialog, GroupNameDialog } from './group-dialogs.tsx';
import { GroupView } from './group-view.tsx';
import { texts } from './groups-texts.ts';
import { matches } from './matching.ts';
import { groupsQuery } from './queries.ts';

type OpenDialog = { kind: 'new' } | { kind: 'rename' | 'delete'; group: Group };

const path = '/app/admin/groups';

/** The groups of the organization; with `?group=` the members of one. `?q=` searches in both. */
export function GroupsPage() {
  const { query } = useLocation();
  const id = query['group'];
  return id === undefined ? <GroupList /> : <GroupView key={id} id={id} />;
}

function GroupList() {
  const t = texts.value;
  const { query: params, route: go } = useLocation();
  const [dialog, setDialog] = useState<OpenDialog | null>(null);
  const groups = useQuery(groupsQuery);
  const search = params['q'] ?? '';
  const close = () => setDialog(null);
  const add = (
    <Button kind="primary" icon={Plus} onClick={() => setDialog({ kind: 'new' })}>
      {t.add}
    </Button>
  );
  return (
    <Page title={pageNames.value.groups} actions={add} intro={t.intro}>
      <QueryView
        query={groups}
        emptyState={
          <EmptyState icon={UsersRound} title={t.none}>
            {t.noneText}
          </EmptyState>
        }
      >
        {(all) => {
          const found = all.filter(({ internalName }) => matches(internalName, search));
          return (
            <>
              <Table
                caption={pageNames.value.groups}
                columns={columns(setDialog)}
                rows={found}
                rowKey={({ id }) => id}
                empty={null}
                search={{
                  value: search,
                  onInput: (q) => go(addressOf(path, { q }), true),
                  label: t.search,
                }}
              />
              <p class={s.muted} role="status">
                {t.count(formatNumber(found.length), found.length === 1)}
              </p>
            </>
          );
        }}
      </QueryView>
      {dialog?.kind === 'new' && <GroupNameDialog onClose={close} onSaved={({ id }) => go(`${path}?group=${id}`)} />}
      {dialog?.kind === 'rename' && <GroupNameDialog group={dialog.group} onClose={close} />}
      {dialog?.kind === 'delete' && <DeleteGroupDialog group={dialog.group} onClose={close} />}
    </Page>
  );
}

function columns(open: (dialog: OpenDialog) => void): Column<Group>[] {
  const t = texts.value;
  return [
    {
      key: 'name',
      label: t.name,
      sort: (a, b) => compareText(a.internalName, b.internalName),
      cell: ({ id, internalName }) => <a href={`${path}?group=${id}`}>{internalName}</a>,
    },
    {
      key: 'source',
      label: t.source,
      sort: (a, b) => compareText(a.source, b.source),
      cell: ({ source }) => <Badge kind={source === 'directory' ? 'info' : 'neutral'}>{t.sources[source]}</Badge>,
    },
    {
      key: 'members',
      label: t.members,
      align: 'end',
      sort: (a, b) => a.memberCount - b.memberCount,
      cell: ({ memberCount }) => formatNumber(memberCount),
    },
    {
      key: 'actions',
      label: t.actions,
      align: 'end',
      cell: (group) =>
        group.source === 'local' && (
          <>
            <IconButton
              icon={Pencil}
              label={t.renameOf(group.internalName)}
              onClick={() => open({ kind: 'rename', group })}
            />
            <IconButton
              icon={Trash}
              label={t.deleteOf(group.internalName)}
              onClick={() => open({ kind: 'delete', group })}
            />
          </>
        ),
    },
  ];
}
