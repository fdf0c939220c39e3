import { useState } from 'preact/hooks';
import type { DashboardWidget } from '@portal/client/interface';
import { useMutation } from '../mutation.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { SelectField } from '../ui/field.tsx';
import { fieldErrors, Form } from '../ui/form.tsx';
import type { EditSession } from './edit-session.ts';
import { texts } from './edit-texts.ts';
import { kindOf, titleOf } from './kinds.ts';
import { saveConfig } from './widgets/save-config.ts';

interface TileDialogProps {
  widget: DashboardWidget;
  onClose: () => void;
}

export function ConfigureDialog({ widget, onClose }: TileDialogProps) {
  const t = texts.value;
  const [config, setConfig] = useState<Record<string, unknown>>(widget.config);
  const save = useMutation({
    mutationFn: (config: Record<string, unknown>) => saveConfig(widget.id, config),
    onSuccess: onClose,
  });
  const Settings = kindOf(widget)?.Settings;
  if (!Settings) return null;
  return (
    <Dialog title={t.settingsOf(titleOf(widget))} onClose={onClose}>
      <Form
        onSubmit={() => save.mutateAsync(config)}
        error={save.error}
        actions={
          <>
            <Button type="submit" kind="primary" busy={save.isPending}>
              {t.save}
            </Button>
            <Button onClick={onClose}>{t.cancel}</Button>
          </>
        }
      >
        <Settings config={config} onChange={setConfig} errors={fieldErrors(save.error)} />
      </Form>
    </Dialog>
  );
}

export function MoveToTabDialog({ session, widget, onClose }: TileDialogProps & { session: EditSession }) {
  const t = texts.value;
  const { tab, tabs = [] } = session.view.current ?? {};
  const others = tabs.filter(({ id }) => id !== tab?.id);
  const [tabId, setTabId] = useState(others[0]?.id ?? '');
  const move = useMutation({
    mutationFn: async (tabId: string) => {
      const target = others.find(({ id }) => id === tabId);
      if (target) await session.moveToTab(widget, target);
    },
    onSuccess: onClose,
  });
  return (
    <Dialog title={t.moveToTab} size="small" onClose={onClose} label={`${t.moveToTab}: ${titleOf(widget)}`}>
      <Form
        onSubmit={() => move.mutateAsync(tabId)}
        error={move.error}
        actions={
          <>
            <Button type="submit" kind="primary" busy={move.isPending}>
              {t.move}
            </Button>
            <Button onClick={onClose}>{t.cancel}</Button>
          </>
        }
      >
        <SelectField
          label={t.target}
          name="tab"
          value={tabId}
          onChange={setTabId}
          options={others.map(({ id, name }) => ({ value: id, label: name }))}
        />
      </Form>
    </Dialog>
  );
}
