import { useState } from 'preact/hooks';
import { SwitchField } from '../ui/field.tsx';
import { texts } from './notice-texts.ts';
import s from './notices.module.css';
import { setDesktopNotices, wantsDesktopNotices } from './seen-notices.ts';

/** Switches messages of the operating system on. The browser asks only after the click. */
export function DesktopNotices() {
  const t = texts.value;
  const isSupported = 'Notification' in window;
  const [permission, setPermission] = useState(isSupported ? Notification.permission : 'denied');
  if (!isSupported) return null;
  const change = async (isOn: boolean) => {
    if (!isOn) return setDesktopNotices(false);
    const answer = await Notification.requestPermission();
    setPermission(answer);
    setDesktopNotices(answer === 'granted');
  };
  return (
    <div class={s.desktop}>
      <SwitchField
        label={t.desktop}
        name="desktop"
        checked={permission === 'granted' && wantsDesktopNotices()}
        disabled={permission === 'denied'}
        hint={permission === 'denied' ? t.desktopDenied : t.desktopHint}
        onChange={(isOn) => void change(isOn)}
      />
    </div>
  );
}
