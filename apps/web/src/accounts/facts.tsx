import { Breakable } from '../ui/breakable.tsx';
import s from './facts.module.css';
import { texts } from './profile-texts.ts';

/** What the account has but cannot change here. */
export function Facts({ facts }: { facts: readonly { label: string; value: string | null }[] }) {
  return (
    <dl class={s.facts}>
      {facts.map(({ label, value }) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd class={value === null ? s.missing : undefined} dir="auto">
            {value === null ? texts.value.notSet : <Breakable>{value}</Breakable>}
          </dd>
        </div>
      ))}
    </dl>
  );
}
