import { useQuery } from '@tanstack/preact-query';
import { ArrowLeft, KeyRound, LogOut, MailPlus, Trash, UserCheck, UserRoundX, UserX } from 'lucide';
import type { ComponentChildren } from 'preact';
import { useLocation } from 'preact-iso/router';
import { useState } from 'preact/hooks';
import type { Group, User } from '@portal/client/interface';
import { PortalError } from '@portal/client/portal-error';
import { groupsOfQuery, matrixQuery } from '../modules/queries.ts';
import { paramsAt } from '../routes.ts';
import { me } from '../session.ts';
import { addressOf } from '../shell/address.ts';
import { moduleName } from '../shell/module-names.ts';
import { pageNames } from '../shell/page-names.ts';
import { Avatar } from '../ui/avatar.tsx';
import { Button, LinkButton } from '../ui/button.tsx';
import { Card, Page } from '../ui/page.tsx';
import { EmptyState, QueryView } from '../ui/states.tsx';
import { Status } from '../ui/status.tsx';
import { Time } from '../ui/time.tsx';
import facts from './facts.module.css';
import profile from './profile.module.css';
import { UserForm } from './user-form.tsx';
import { PasswordDialog } from './user-password-dialog.tsx';
import { texts } from './user-texts.ts';
import { nameOf, words } from './user-words.ts';
import { type BatchAction, BatchDialog } from './users-batch-dialog.tsx';
import { listPath } from './users-filter.ts';
import { useUser } from './users-queries.ts';
import { texts as actionTexts } from './users-texts.ts';
import s from './users.module.css';

/** One account: its facts, a form, its rights, and what can be done to it. */
export function UserPage() {
  const t = texts.value;
  const { path } = useLocation();
  const { id = '' } = paramsAt(path);
  const user = useUser(id);
  const isGone = user.error instanceof PortalError && user.error.status === 404;
  return (
    <Page
      title={user.data ? nameOf(user.data) : pageNames.value.users}
      intro={
        <LinkButton href={listPath} icon={ArrowLeft} size="small">
          {t.allAccounts}
        </LinkButton>
      }
    >
      {isGone ? (
        <EmptyState icon={UserRoundX} title={t.notFoundTitle}>
          {t.notFound}
        </EmptyState>
      ) : (
        <QueryView query={user}>{(data) => <Parts key={data.id} user={data} />}</QueryView>
      )}
    </Page>
  );
}

function Parts({ user }: { user: User }) {
  const t = texts.value;
  const isProtected = user.role === 'SUPER_ADMIN' && me.value?.role !== 'SUPER_ADMIN';
  return (
    <div class={profile.cards}>
      <div>
        <Overview user={user} />
        {isProtected ? null : <Actions user={user} />}
      </div>
      <div>
        <Card title={t.formTitle}>
          {user.source === 'directory' && (
            <>
              <PersonFacts user={user} />
              <p class={s.muted}>
                {t.fromDirectory} {t.passwordInDirectory}
              </p>
            </>
          )}
          {isProtected ? (
            <>
              {user.source === 'local' && <PersonFacts user={user} />}
              <Status kind="info">{t.protected}</Status>
            </>
          ) : (
            <UserForm user={user} />
          )}
        </Card>
        {user.tenantId === me.value?.tenantId && <Rights user={user} />}
      </div>
    </div>
  );
}

function Overview({ user }: { user: User }) {
  const t = texts.value;
  const w = words.value;
  const { isActive, lastLoginAt, welcomeMailSentAt } = user;
  return (
    <Card
      title={t.factsTitle}
      actions={<Avatar userId={user.id} hasAvatar={user.hasAvatar} name={nameOf(user)} size={40} />}
    >
      <dl class={facts.facts}>
        <Fact label={w.status}>
          <Status kind={isActive ? 'ok' : 'unknown'}>{isActive ? w.active : w.inactive}</Status>
        </Fact>
        <Fact label={w.role}>{w.roles[user.role]}</Fact>
        <Fact label={w.username}>{user.username}</Fact>
        <Fact label={w.source}>{w.sources[user.source]}</Fact>
        <Fact label={w.tenant}>{user.tenantName}</Fact>
        <Fact label={w.lastLogin}>{lastLoginAt ? <Time value={lastLoginAt} /> : w.never}</Fact>
        <Fact label={w.welcomeMail}>{welcomeMailSentAt ? <Time value={welcomeMailSentAt} /> : t.notSent}</Fact>
        {user.source === 'local' && <Fact label={w.mustChangePassword}>{user.mustChangePassword ? w.yes : w.no}</Fact>}
        <Fact label={w.created}>
          <Time value={user.createdAt} />
        </Fact>
        <Fact label={w.updated}>
          <Time value={user.updatedAt} />
        </Fact>
      </dl>
    </Card>
  );
}

function PersonFacts({ user }: { user: User }) {
  const w = words.value;
  return (
    <dl class={facts.facts}>
      {(['username', 'email', 'displayName', 'firstName', 'lastName'] as const).map((field) => (
        <Fact key={field} label={w[field]}>
          {user[field]}
        </Fact>
      ))}
    </dl>
  );
}

function Fact({ label, children }: { label: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{label}</dt>
      <dd dir="auto" class={children === null ? facts.missing : undefined}>
        {children ?? texts.value.notSet}
      </dd>
    </div>
  );
}

function Actions({ user }: { user: User }) {
  const t = texts.value;
  const actions = actionTexts.value;
  const { route: go } = useLocation();
  const [open, setOpen] = useState<BatchAction | 'password' | null>(null);
  const isOwn = user.id === me.value?.id;
  const close = () => setOpen(null);
  const button = (action: BatchAction, icon: typeof Trash) => (
    <Button icon={icon} kind={action === 'delete' ? 'danger' : 'secondary'} onClick={() => setOpen(action)}>
      {actions.action[action].label}
    </Button>
  );
  return (
    <Card title={t.actionsTitle}>
      {isOwn ? (
        // The API refuses most of it for the own account.
        <>
          <p class={s.muted}>{t.ownAccount}</p>
          <div class={s.buttons}>
            <LinkButton href="/app/me">{t.toProfile}</LinkButton>
            {button('welcomeMail', MailPlus)}
            {button('endSessions', LogOut)}
          </div>
        </>
      ) : (
        <div class={s.buttons}>
          {user.source === 'local' && (
            <Button icon={KeyRound} onClick={() => setOpen('password')}>
              {actions.resetPassword}
            </Button>
          )}
          {button('welcomeMail', MailPlus)}
          {button('endSessions', LogOut)}
          {user.isActive ? button('deactivate', UserX) : button('activate', UserCheck)}
          {button('delete', Trash)}
        </div>
      )}
      {open === 'password' && <PasswordDialog user={user} onClose={close} />}
      {open && open !== 'password' && (
        <BatchDialog
          action={open}
          users={[user]}
          onClose={close}
          onDone={([done]) => {
            if (done && open === 'delete') go(listPath);
          }}
        />
      )}
    </Card>
  );
}

/** The groups of an account, and what it may use: by itself or through them. */
function Rights({ user }: { user: User }) {
  const t = texts.value;
  const groups = useQuery(groupsOfQuery(user.id));
  return (
    <>
      <Card title={t.ownGroups}>
        <QueryView query={groups} emptyState={<p>{t.noGroups}</p>}>
          {(all) => (
            <ul>
              {all.map(({ id, internalName }) => (
                <li key={id}>
                  <a href={addressOf('/app/admin/groups', { group: id })} dir="auto">
                    {internalName}
                  </a>
                </li>
              ))}
            </ul>
          )}
        </QueryView>
        <p class={s.muted}>
          <a href="/app/admin/groups">{t.toGroups}</a>
        </p>
      </Card>
      <Card title={t.grantsTitle}>
        {user.role === 'USER' ? (
          <QueryView query={groups} empty={() => false}>
            {(all) => <Grants user={user} groups={all} />}
          </QueryView>
        ) : (
          <p>{t.managesAll}</p>
        )}
      </Card>
    </>
  );
}

function Grants({ user, groups }: { user: User; groups: readonly Group[] }) {
  const t = texts.value;
  const matrix = useQuery(matrixQuery);
  const isGroup = new Set(groups.map(({ id }) => id));
  return (
    <>
      <QueryView query={matrix}>
        {({ modules, subjects }) => {
          const holders = subjects.filter(({ type, id }) => (type === 'user' ? id === user.id : isGroup.has(id)));
          const granted = modules.flatMap(({ key, name }) => {
            const having = holders.filter(({ grants }) => grants[key]);
            if (having.length === 0) return [];
            const level = having.some(({ grants }) => grants[key] === 'MANAGE') ? 'MANAGE' : 'USE';
            const by = having.filter(({ grants }) => grants[key] === level);
            const through = by.some(({ type }) => type === 'user') ? '' : by.map(({ name }) => name).join(', ');
            return (
              <Fact key={key} label={moduleName({ key, name, kind: 'builtin' })}>
                {through === '' ? t.levels[level] : t.viaGroup(t.levels[level], through)}
              </Fact>
            );
          });
          return granted.length > 0 ? <dl class={facts.facts}>{granted}</dl> : <p>{t.noGrants}</p>;
        }}
      </QueryView>
      <p class={s.muted}>
        <a href="/app/admin/modules">{t.toModules}</a>
      </p>
    </>
  );
}
