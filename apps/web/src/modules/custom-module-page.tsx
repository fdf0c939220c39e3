import { useQuery } from '@tanstack/preact-query';
import { ExternalLink, Pencil, RotateCw, Trash } from 'lucide';
import { useLocation } from 'preact-iso/router';
import { useState } from 'preact/hooks';
import type { CustomModule } from '@portal/client/interface';
import { useMutation } from '../mutation.ts';
import { portal, queryClient } from '../portal.ts';
import { paramsAt } from '../routes.ts';
import { isAdmin } from '../session.ts';
import { pageNames } from '../shell/page-names.ts';
import { IconButton, LinkButton } from '../ui/button.tsx';
import { ConfirmDialog } from '../ui/dialog.tsx';
import { Page, Section } from '../ui/page.tsx';
import { QueryView } from '../ui/states.tsx';
import { showToast } from '../ui/toast.tsx';
import { CustomModuleDialog } from './custom-module-dialog.tsx';
import { framingRefusal } from './framing.ts';
import s from './modules.module.css';
import { texts } from './texts.ts';

/** A web page that the person or the organization has added to the portal. */
export function CustomModulePage() {
  const t = texts.value;
  const { path } = useLocation();
  const id = paramsAt(path)['id'];
  const query = useQuery({
    queryKey: ['modules', 'custom'],
    queryFn: ({ signal }) => portal.get('/custom-modules', { signal }),
  });
  const module = query.data?.find((one) => one.id === id);
  if (module) return <Framed key={module.id} module={module} />;
  return (
    <Page title={query.data ? t.notFound : pageNames.value.customModule}>
      <QueryView query={query} empty={() => false}>
        {() => <p>{t.notFoundText}</p>}
      </QueryView>
    </Page>
  );
}

function Framed({ module }: { module: CustomModule }) {
  const t = texts.value;
  const { route: go } = useLocation();
  const [loads, setLoads] = useState(0);
  const [dialog, setDialog] = useState<'edit' | 'delete' | null>(null);
  const { id, name, url, ownerUserId } = module;
  const refusal = framingRefusal(url, location.origin);
  const close = () => setDialog(null);
  const remove = useMutation({
    mutationFn: () => portal.delete('/custom-modules/{id}', { params: { path: { id } } }),
    onSuccess: () => {
      go('/app');
      showToast(t.deleted(name), { kind: 'success' });
      return queryClient.invalidateQueries({ queryKey: ['modules'] });
    },
  });
  const actions = (
    <>
      {refusal !== 'notHttps' && (
        <LinkButton href={url} target="_blank" icon={ExternalLink}>
          {t.openInTab}
        </LinkButton>
      )}
      {!refusal && <IconButton icon={RotateCw} label={t.reload} onClick={() => setLoads(loads + 1)} />}
      {(ownerUserId !== null || isAdmin.value) && (
        <>
          <IconButton icon={Pencil} label={t.edit} onClick={() => setDialog('edit')} />
          <IconButton icon={Trash} label={t.delete} onClick={() => setDialog('delete')} />
        </>
      )}
    </>
  );
  return (
    <Page title={name} actions={actions}>
      {refusal ? (
        <Section title={t[refusal]}>
          <p>{t[`${refusal}Text`]}</p>
        </Section>
      ) : (
        <>
          <iframe
            key={`${url} ${loads}`}
            class={s.frame}
            title={name}
            src={url}
            // The page is of another origin, so it cannot leave its sandbox.
            // oxlint-disable-next-line react/iframe-missing-sandbox
            sandbox="allow-scripts allow-forms allow-same-origin allow-popups"
            referrerpolicy="no-referrer"
          />
          <p class={s.hint}>{t.frameHint}</p>
        </>
      )}
      {dialog === 'edit' && <CustomModuleDialog module={module} onClose={close} />}
      {dialog === 'delete' && (
        <ConfirmDialog
          title={t.deleteTitle}
          confirmLabel={t.delete}
          danger
          onConfirm={() => remove.mutateAsync()}
          onClose={close}
        >
          {ownerUserId === null ? t.deleteSharedText(name) : t.deleteText(name)}
        </ConfirmDialog>
      )}
    </Page>
  );
}
