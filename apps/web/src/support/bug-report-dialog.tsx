import { ScreenShare } from 'lucide';
import { useEffect, useRef, useState } from 'preact/hooks';
import { PortalError } from '@portal/client/portal-error';
import { useMutation } from '../mutation.ts';
import { portal } from '../portal.ts';
import { isAdmin } from '../session.ts';
import { Button } from '../ui/button.tsx';
import { CopyButton } from '../ui/copy-button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { FileField, TextField } from '../ui/field.tsx';
import { fieldErrors, Form } from '../ui/form.tsx';
import { showToast } from '../ui/toast.tsx';
import { useUnsavedChanges } from '../ui/unsaved.ts';
import { changeDraft, draftOfReport, forgetDraft, isBlank } from './bug-report-draft.ts';
import s from './bug-report.module.css';
import { openPicture, type Picture, pngOf, pngOfWords } from './picture.ts';
import { Redaction } from './redaction.tsx';
import { canCapture, captureScreen, wasRefusedByPerson } from './screen-capture.ts';
import { texts } from './texts.ts';

/** A report to the organization's contact for bugs, with a screenshot if the person wants one. */
export function BugReportDialog({ onClose }: { onClose: () => void }) {
  const t = texts.value;
  const draft = draftOfReport();
  const { title, description, picture } = draft;
  const [page] = useState(() => location.pathname + location.search);
  const stopping = useRef(new AbortController());
  useUnsavedChanges(!isBlank(draft));

  const reportOf = (text: string) => `${text.trim()}\n\n${t.pageLine(page)}`.trim();
  const send = useMutation({
    mutationFn: async () => {
      stopping.current = new AbortController();
      const { signal } = stopping.current;
      // The newest draft: this function may be that of an earlier drawing.
      const { title, description, picture } = draftOfReport();
      const screenshot = await (picture ? pngOf(picture) : pngOfWords(t.noPicture));
      return portal.post('/bug-reports', { body: { title, description: reportOf(description), screenshot }, signal });
    },
    onSuccess: () => {
      forgetDraft();
      onClose();
      showToast(t.sent, { kind: 'success' });
    },
  });
  const error = isStop(send.error) ? null : send.error;
  const refused = fieldErrors(error);
  const close = () => {
    stopping.current.abort();
    if (!isBlank(draft)) showToast(t.keptDraft);
    onClose();
  };
  return (
    <Dialog title={t.report} onClose={close} isSafeToClose>
      <Form
        onSubmit={() => send.mutateAsync()}
        error={error}
        actions={
          <>
            <Button type="submit" kind="primary" busy={send.isPending}>
              {t.send}
            </Button>
            <Button onClick={send.isPending ? () => stopping.current.abort() : close}>{t.cancel}</Button>
          </>
        }
      >
        <p>{t.intro}</p>
        <TextField
          label={t.title}
          name="title"
          hint={t.titleHint}
          required
          maxLength={200}
          value={title}
          error={refused['title']}
          onInput={(value) => changeDraft({ title: value })}
        />
        <TextField
          label={t.description}
          name="description"
          hint={t.descriptionHint}
          multiline
          rows={5}
          maxLength={9_000}
          value={description}
          error={refused['description']}
          onInput={(value) => changeDraft({ description: value })}
        />
        <Screenshot
          picture={picture}
          refusal={refused['screenshot']}
          onChange={(next) => changeDraft({ picture: next })}
        />
        <p class={s.muted}>{t.sentAlong(page)}</p>
        {error instanceof PortalError && error.status !== 400 && (
          <OtherWay error={error} text={`${title}\n\n${reportOf(description)}`} />
        )}
      </Form>
    </Dialog>
  );
}

const isStop = (error: unknown): boolean => error instanceof DOMException && error.name === 'AbortError';

/** What to do with a report that could not be sent. */
function OtherWay({ error: { code }, text }: { error: PortalError; text: string }) {
  const t = texts.value;
  const concernsMail = code === 'NO_RECIPIENT' || code === 'MAIL_DELIVERY_FAILED';
  return (
    <div class={s.row}>
      <p>{t.otherWay}</p>
      <CopyButton text={text}>{t.copyText}</CopyButton>
      {concernsMail && isAdmin.value && <a href="/app/admin/mail">{t.toMailSettings}</a>}
    </div>
  );
}

interface ScreenshotProps {
  picture: Picture | null;
  refusal: string | undefined;
  onChange: (picture: Picture | null) => void;
}

/** Takes a picture of the screen, from a file or from the clipboard. */
function Screenshot({ picture, refusal, onChange }: ScreenshotProps) {
  const t = texts.value;
  const box = useRef<HTMLDivElement>(null);
  const [failure, setFailure] = useState<string | null>(null);
  const [isBusy, setBusy] = useState(false);

  const take = async (make: () => Promise<Picture>, failureText: string) => {
    setFailure(null);
    setBusy(true);
    try {
      onChange(await make());
    } catch (error) {
      if (!wasRefusedByPerson(error)) setFailure(failureText);
    } finally {
      setBusy(false);
    }
  };
  const open = (file: Blob) => void take(() => openPicture(file), t.unreadable);
  const capture = () => void take(() => captureScreen(() => hideDialog(box.current)), t.captureFailed);

  useEffect(() => {
    const onPaste = (event: ClipboardEvent) => {
      const file = [...(event.clipboardData?.files ?? [])].find(({ type }) => type.startsWith('image/'));
      if (!file) return;
      event.preventDefault();
      open(file);
    };
    // Not on the dialog: nothing in it has the focus after a click beside its fields.
    document.addEventListener('paste', onPaste);
    return () => document.removeEventListener('paste', onPaste);
  }, []);

  const remove = () => {
    onChange(null);
    // The pressed button goes.
    requestAnimationFrame(() => box.current?.querySelector<HTMLElement>('button')?.focus());
  };
  return (
    <div ref={box} class={s.stack}>
      {!picture && canCapture() && (
        <div>
          <Button icon={ScreenShare} busy={isBusy} onClick={capture}>
            {t.capture}
          </Button>
        </div>
      )}
      {picture ? (
        <Redaction picture={picture} onChange={onChange} onRemove={remove} />
      ) : (
        <FileField
          label={t.picture}
          accept="image/*"
          hint={t.pictureHint}
          busy={isBusy}
          error={failure ?? refusal}
          onFiles={([file]) => file && open(file)}
        />
      )}
    </div>
  );
}

/** Takes the dialog off the screen while it is photographed. */
function hideDialog(inside: Element | null): () => void {
  const dialog = inside?.closest('dialog');
  if (dialog) dialog.style.visibility = 'hidden';
  return () => {
    if (dialog) dialog.style.visibility = '';
  };
}
