import { Bug } from 'lucide';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Kbd } from '../ui/kbd.tsx';
import { texts as helpTexts } from './help-texts.ts';
import s from './help.module.css';
import { closeOverlay, openOverlay } from './overlay.ts';
import { searchKeys } from './shortcuts.ts';
import { texts } from './texts.ts';

/** The keys of the portal and what it can do. */
export function Help() {
  const t = helpTexts.value;
  const keys: [keys: string[], what: string][] = [
    [[searchKeys()], t.openPalette],
    [['?'], t.openHelp],
    [[t.escape], t.closeDialog],
  ];
  const editKeys: [keys: string[], what: string][] = [
    [[t.enter], t.grabTile],
    [['←', '↑', '→', '↓'], t.moveTile],
    [[`${t.shift}+←`, `${t.shift}+→`], t.resizeTile],
    [[t.escape], t.releaseTile],
  ];
  return (
    <Dialog title={texts.value.help} onClose={closeOverlay}>
      <h3>{t.keys}</h3>
      <Keys rows={keys} />
      <h3>{t.tileKeys}</h3>
      <Keys rows={editKeys} />
      <h3>{t.features}</h3>
      <ul>
        {t.featureList.map((feature) => (
          <li key={feature}>{feature}</li>
        ))}
      </ul>
      <Button icon={Bug} onClick={() => openOverlay('bugReport')}>
        {texts.value.reportBug}
      </Button>
      <p>
        {t.forDevelopers}{' '}
        <a href="/docs" target="_blank" rel="noreferrer">
          {t.apiDocs}
        </a>
      </p>
    </Dialog>
  );
}

function Keys({ rows }: { rows: [keys: string[], what: string][] }) {
  return (
    <dl class={s.keys}>
      {rows.map(([keys, what]) => (
        <div key={what}>
          <dt>
            {keys.map((key) => (
              <Kbd key={key}>{key}</Kbd>
            ))}
          </dt>
          <dd>{what}</dd>
        </div>
      ))}
    </dl>
  );
}
