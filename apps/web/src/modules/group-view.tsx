import { useQuery } from '@tanstack/preact-query';
import { ArrowLeft, Pencil, Plus, Trash, UserMinus } from 'lucide';
import { useLocation } from 'preact-iso/router';
import { useMemo, useState } from 'preact/hooks';
import type { Group, GroupMember } from '@portal/client/interface';
import { compareText, formatNumber } from '../language.ts';
import { useMutation } from '../mutation.ts';
import { send } from '../portal.ts';
import { addressOf } from '../shell/address.ts';
import { pageNames } from '../shell/page-names.ts';
import { Badge } from '../ui/badge.tsx';
import { Button, IconButton, LinkButton } from '../ui/button.tsx';
import { Page, Section } from '../ui/page.tsx';
import { QueryView } from '../ui/states.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { showToast } from '../ui/toast.tsx';
import s from './administration.module.css';
import { texts as levelTexts } from './grants-texts.ts';
import { DeleteGroupDialog, GroupNameDialog } from './group-dialogs.tsx';
import { grantsOf } from './group-grants.ts';
import { texts } from './groups-texts.ts';
import { matches } from './matching.ts';
import { nameOf, PickAccountsDialog } from './pick-accounts-dialog.tsx';
import { changeMembers, groupsQuery, matrixQuery, membersQuery } from './queries.ts';

const path = '/app/admin/groups';

/** One group: its modules and its members. */
export function GroupView({ id }: { id: string }) {
  const t = texts.value;
  const groups = useQuery(groupsQuery);
  const group = groups.data?.find((one) => one.id === id);
  if (group) return <Known group={group} />;
  return (
    <Page
      title={groups.data ? t.notFound : pageNames.value.groups}
      actions={
        <LinkButton href={path} icon={ArrowLeft}>
          {t.allGroups}
        </LinkButton>
      }
    >
      <QueryView query={groups} empty={() => false}>
        {() => <p>{t.notFoundText}</p>}
      </QueryView>
    </Page>
  );
}

function Known({ group }: { group: Group }) {
  const t = texts.value;
  const { route: go } = useLocation();
  const [dialog, setDialog] = useState<'rename' | 'delete' | null>(null);
  const { internalName, source } = group;
  const isLocal = source === 'local';
  const close = () => setDialog(null);
  return (
    <Page
      title={internalName}
      intro={isLocal ? undefined : t.directoryText}
      actions={
        <>
          <LinkButton href={path} icon={ArrowLeft}>
            {t.allGroups}
          </LinkButton>
          {isLocal ? (
            <>
              <Button icon={Pencil} onClick={() => setDialog('rename')}>
                {t.rename}
              </Button>
              <Button icon={Trash} onClick={() => setDialog('delete')}>
                {t.delete}
              </Button>
            </>
          ) : (
            <Badge kind="info">{t.sources.directory}</Badge>
          )}
        </>
      }
    >
      <Grants group={group} />
      <Members group={group} />
      {dialog === 'rename' && <GroupNameDialog group={group} onClose={close} />}
      {dialog === 'delete' && <DeleteGroupDialog group={group} onClose={close} onDeleted={() => go(path, true)} />}
    </Page>
  );
}

function Grants({ group: { id, internalName } }: { group: Group }) {
  const t = texts.value;
  const { levels } = levelTexts.value;
  const matrix = useQuery(matrixQuery);
  const change = (
    <LinkButton href={`/app/admin/modules?${new URLSearchParams({ q: internalName }).toString()}`}>
      {t.changeGrants}
    </LinkButton>
  );
  return (
    <Section title={t.grants} actions={change}>
      <QueryView query={matrix} empty={() => false}>
        {(data) => {
          const grants = grantsOf(data, id);
          if (grants.length === 0) return <p class={s.muted}>{t.noGrants}</p>;
          return (
            <ul class={s.row}>
              {grants.map(({ key, name, level }) => (
                <li key={key}>
                  <Badge>{t.grant(name, levels[level])}</Badge>
                </li>
              ))}
            </ul>
          );
        }}
      </QueryView>
    </Section>
  );
}

function Members({ group: { id, internalName, source } }: { group: Group }) {
  const t = texts.value;
  const { query: params, route: go } = useLocation();
  const [isAdding, setAdding] = useState(false);
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const members = useQuery(membersQuery(id));
  const remove = useRemoveMembers(id);
  const search = params['q'] ?? '';
  const isLocal = source === 'local';
  const chosen = members.data?.filter((member) => selected.has(member.id)) ?? [];
  const columns = useMemo(() => columnsFor(isLocal ? id : null), [isLocal, id, t]);
  const found = useMemo(
    () => members.data?.filter((member) => matches(`${nameOf(member)} ${member.username}`, search)) ?? [],
    [members.data, search],
  );
  const actions = isLocal && (
    <>
      {chosen.length > 0 && (
        <Button icon={UserMinus} busy={remove.isPending} onClick={() => remove.mutate(chosen)}>
          {t.removeCount(chosen.length)}
        </Button>
      )}
      <Button kind="primary" icon={Plus} onClick={() => setAdding(true)}>
        {t.addMembers}
      </Button>
    </>
  );
  return (
    <Section title={t.members} actions={actions}>
      <QueryView query={members} emptyState={<p class={s.muted}>{isLocal ? t.noMembers : t.noDirectoryMembers}</p>}>
        {() => (
          <>
            <Table
              caption={t.membersOf(internalName)}
              columns={columns}
              rows={found}
              rowKey={(member) => member.id}
              empty={null}
              search={{
                value: search,
                onInput: (q) => go(addressOf(path, { group: id, q }), true),
                label: t.searchMembers,
              }}
              selection={
                isLocal
                  ? {
                      selected,
                      onChange: setSelected,
                      labelOf: (member) => t.select(nameOf(member)),
                      allLabel: t.selectAll,
                    }
                  : undefined
              }
            />
            <p class={s.muted} role="status">
              {t.memberCount(formatNumber(found.length), found.length === 1)}
            </p>
          </>
        )}
      </QueryView>
      {isAdding && (
        <PickAccountsDialog
          title={t.addMembersTo(internalName)}
          submitLabel={t.addCount}
          taken={new Set(members.data?.map((member) => member.id))}
          takenHint={t.isMember}
          onClose={() => setAdding(false)}
          onSubmit={async (accounts) => {
            const ids = accounts.map((account) => account.id);
            await changeMembers(id, { add: ids });
            showToast(t.added(accounts.map(nameOf)), {
              kind: 'success',
              undo: () => void undo(() => changeMembers(id, { remove: ids })),
            });
          }}
        />
      )}
    </Section>
  );
}

/** Without an id, members cannot be removed. */
function columnsFor(groupId: string | null): Column<GroupMember>[] {
  const t = texts.value;
  const columns: Column<GroupMember>[] = [
    {
      key: 'name',
      label: t.account,
      sort: (a, b) => compareText(nameOf(a), nameOf(b)),
      cell: (member) => <a href={`/app/admin/users/${member.id}`}>{nameOf(member)}</a>,
    },
    {
      key: 'username',
      label: t.username,
      sort: (a, b) => compareText(a.username, b.username),
      cell: ({ username }) => username,
    },
  ];
  if (groupId !== null)
    columns.push({
      key: 'remove',
      label: t.actions,
      align: 'end',
      cell: (member) => <RemoveMember groupId={groupId} member={member} />,
    });
  return columns;
}

/** Removes members at once; a message names them and takes it back. */
const useRemoveMembers = (groupId: string) =>
  useMutation({
    mutationFn: (members: readonly GroupMember[]) =>
      changeMembers(groupId, { remove: members.map((member) => member.id) }),
    onSuccess: (_members, removed) =>
      showToast(texts.value.removed(removed.map(nameOf)), {
        kind: 'success',
        undo: () => void undo(() => changeMembers(groupId, { add: removed.map((member) => member.id) })),
      }),
    onError: () => showToast(texts.value.notChanged, { kind: 'error' }),
  });

function RemoveMember({ groupId, member }: { groupId: string; member: GroupMember }) {
  const remove = useRemoveMembers(groupId);
  return (
    <IconButton
      icon={UserMinus}
      label={texts.value.remove(nameOf(member))}
      busy={remove.isPending}
      onClick={() => remove.mutate([member])}
    />
  );
}

const undo = (back: () => Promise<unknown>): Promise<void> =>
  send(back).then(
    () => showToast(texts.value.undone, { kind: 'success' }),
    () => showToast(texts.value.notChanged, { kind: 'error' }),
  );
