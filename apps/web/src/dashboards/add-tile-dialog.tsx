import { useState } from 'preact/hooks';
import { useMutation } from '../mutation.ts';
import { useActiveModules } from '../shell/modules.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { fieldErrors, Form } from '../ui/form.tsx';
import { Icon } from '../ui/icon.tsx';
import { QueryView } from '../ui/states.tsx';
import css from './edit-mode.module.css';
import type { EditSession } from './edit-session.ts';
import { texts } from './edit-texts.ts';
import { type WidgetKind, widgetKinds } from './widgets/registry.ts';

interface AddTileDialogProps {
  session: EditSession;
  onClose: () => void;
}

/** A new tile: its type, then its settings if the type has any. */
export function AddTileDialog({ session, onClose }: AddTileDialogProps) {
  const t = texts.value;
  const [type, setType] = useState<keyof typeof widgetKinds | null>(null);
  const [config, setConfig] = useState<Record<string, unknown>>({});
  const add = useMutation({
    mutationFn: ({ type, config }: { type: string; config: Record<string, unknown> }) => session.add(type, config),
    onSuccess: onClose,
  });
  const kind = type && widgetKinds[type];
  const choose = (chosen: keyof typeof widgetKinds) => {
    setType(chosen);
    if (!widgetKinds[chosen].Settings) add.mutate({ type: chosen, config: {} });
  };
  const back = () => {
    setType(null);
    setConfig({});
    add.reset();
  };

  if (!type || !kind) {
    return (
      <Dialog title={t.addTile} size="wide" onClose={onClose}>
        <Types onChoose={choose} />
      </Dialog>
    );
  }
  return (
    <Dialog title={kind.label()} onClose={onClose}>
      <Form
        onSubmit={() => add.mutateAsync({ type, config })}
        error={add.error}
        actions={
          <>
            <Button type="submit" kind="primary" busy={add.isPending}>
              {t.add}
            </Button>
            <Button onClick={back}>{t.back}</Button>
          </>
        }
      >
        <p>{kind.description()}</p>
        {kind.Settings && <kind.Settings config={config} onChange={setConfig} errors={fieldErrors(add.error)} />}
      </Form>
    </Dialog>
  );
}

function Types({ onChoose }: { onChoose: (type: keyof typeof widgetKinds) => void }) {
  const modules = useActiveModules();
  return (
    <QueryView query={modules} empty={() => false}>
      {(active) => {
        const open = new Set(active.map(({ key }) => key));
        const offered = Object.entries(widgetKinds) as [keyof typeof widgetKinds, WidgetKind][];
        return (
          <ul class={css.types}>
            {offered
              .filter(([, { module }]) => module === null || open.has(module))
              .map(([type, { icon, label, description }]) => (
                <li key={type}>
                  <button type="button" onClick={() => onChoose(type)}>
                    <Icon icon={icon} size={20} />
                    <strong>{label()}</strong>
                    <span>{description()}</span>
                  </button>
                </li>
              ))}
          </ul>
        );
      }}
    </QueryView>
  );
}
