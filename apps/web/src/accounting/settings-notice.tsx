import { Settings } from 'lucide';
import users from '../accounts/users.module.css';
import { LinkButton } from '../ui/button.tsx';
import { Status } from '../ui/status.tsx';
import { shared } from './shared-texts.ts';

/** Tells that the export needs settings, and leads people who may change them there. */
export function SettingsNotice({ path, whom = shared.value.askManager }: { path: string | null; whom?: string }) {
  const t = shared.value;
  return (
    <div class={users.buttons}>
      <Status kind="warning">
        {t.incomplete} {path === null && whom}
      </Status>
      {path !== null && (
        <LinkButton href={path} size="small" icon={Settings}>
          {t.toSettings}
        </LinkButton>
      )}
    </div>
  );
}
