import { useRef, useState } from 'preact/hooks';
import type { CloudInstance } from '@portal/client/interface';
import { PortalError } from '@portal/client/portal-error';
import { formatBytes } from '../language.ts';
import { useMutation } from '../mutation.ts';
import { portal } from '../portal.ts';
import { Button } from '../ui/button.tsx';
import { ConfirmDialog } from '../ui/dialog.tsx';
import { useErrorText } from '../ui/error-text.ts';
import { FileField } from '../ui/field.tsx';
import { Card } from '../ui/page.tsx';
import { Progress } from '../ui/states.tsx';
import { showToast } from '../ui/toast.tsx';
import { CloudLogo, logoVersion } from './cloud-logo.tsx';
import s from './cloud-status.module.css';
import { keepCloud } from './clouds.ts';
import { texts } from './texts.ts';

const maxBytes = 1_048_576;
const path = '/cloud-status/instances/{id}/logo';

/** Uploads and removes the logo of a cloud. */
export function LogoCard({ cloud }: { cloud: CloudInstance }) {
  const t = texts.value;
  const { id, customerName, hasLogo } = cloud;
  const [isRemoving, setRemoving] = useState(false);
  const stopping = useRef(new AbortController());
  const upload = useMutation({
    mutationFn: async (logo: File) => {
      // The service would refuse it, too, but only after it has arrived.
      if (logo.size > maxBytes)
        throw new PortalError({ code: 'PAYLOAD_TOO_LARGE', message: formatBytes(logo.size) }, { status: 413 });
      stopping.current = new AbortController();
      const { signal } = stopping.current;
      return portal.post(path, { params: { path: { id } }, body: { logo }, signal });
    },
    onSuccess: (changed) => {
      logoVersion.value += 1;
      keepCloud(changed);
      showToast(t.logoSaved, { kind: 'success' });
    },
  });
  const remove = async () => {
    await portal.delete(path, { params: { path: { id } } });
    keepCloud({ ...cloud, hasLogo: false });
    showToast(t.logoRemoved, { kind: 'success' });
  };
  const refusal = useRefusal(upload.error, upload.variables);
  return (
    <Card
      title={
        <>
          {hasLogo && <CloudLogo cloud={cloud} />}
          {t.logo}
        </>
      }
      actions={hasLogo && <Button onClick={() => setRemoving(true)}>{t.logoRemove}</Button>}
    >
      <FileField
        label={t.logoChoose}
        accept="image/png,image/jpeg,image/gif,image/webp,image/svg+xml"
        hint={t.logoHint}
        busy={upload.isPending}
        error={refusal}
        onFiles={([file]) => file && upload.mutate(file)}
      />
      {upload.isPending && (
        <div class={s.row}>
          <Progress label={t.logoUploading} />
          <Button size="small" onClick={() => stopping.current.abort()}>
            {t.logoStop}
          </Button>
        </div>
      )}
      {isRemoving && (
        <ConfirmDialog
          title={t.logoRemove}
          confirmLabel={t.logoRemove}
          danger
          onConfirm={remove}
          onClose={() => setRemoving(false)}
        >
          {t.logoRemoveText(customerName)}
        </ConfirmDialog>
      )}
    </Card>
  );
}

/** Why the file was not taken; undefined if nothing failed or the person stopped it. */
function useRefusal(error: unknown, file: File | undefined): string | undefined {
  const t = texts.value;
  const { text } = useErrorText(error);
  if (!error || (error instanceof DOMException && error.name === 'AbortError')) return undefined;
  const code = error instanceof PortalError ? error.code : null;
  if (code === 'PAYLOAD_TOO_LARGE') return t.logoTooLarge(formatBytes(file?.size ?? 0));
  return code === 'UNSUPPORTED_IMAGE' ? t.logoUnsupported : text;
}
