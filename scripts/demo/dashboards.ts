import { NewCalendarSource } from '@portal/domain/calendar/sources';
import { LayoutInput } from '@portal/domain/dashboards/grid';
import { NewReminder } from '@portal/domain/reminders/reminders';
import { DAY, SECOND } from '@portal/domain/time';
import type { UserContext } from '@portal/platform/context';
import { pngPicture, svgIcon } from '@portal/testing/icons';
import { addSource, listSources } from '@portal/usecases/calendar/sources';
import { setDashboardBackground } from '@portal/usecases/dashboards/background';
import { uploadIcon } from '@portal/usecases/dashboards/favorite-icon';
import { addFavorite } from '@portal/usecases/dashboards/favorites';
import { addImage, listImages } from '@portal/usecases/dashboards/images';
import { saveLayout } from '@portal/usecases/dashboards/save-layout';
import { createTab, listTabs, renameTab } from '@portal/usecases/dashboards/tabs';
import { addWidget, listWidgets } from '@portal/usecases/dashboards/widgets';
import { createReminder, listReminders, snoozeReminder } from '@portal/usecases/reminders/reminders';
import { calendars } from './calendars.ts';
import type { Demo } from './fill.ts';
import { domain } from './made-up.ts';

const mailedTitle = 'Angebot der Muster Elektro KG prüfen';

/** Mara's dashboard: two tabs with a widget of every kind, a picture, reminders and a calendar. */
export async function fillDashboards({ as, systems }: Demo): Promise<void> {
  await as('mara.muster', async (ctx) => {
    const known = new Set((await listSources(ctx)).map(({ name }) => name));
    for (const { name, file, color } of calendars)
      if (!known.has(name))
        await addSource(
          ctx,
          NewCalendarSource.parse({ name, kind: 'ics', url: `${systems.calendar.origin}/${file}`, color }),
        );
    await fillReminders(ctx);
    if ((await listImages(ctx)).length === 0) {
      const { id } = await addImage(ctx, { name: 'wasserturm.png', bytes: waterTower() });
      await setDashboardBackground(ctx, { kind: 'image', imageId: id, fit: 'cover', dim: 20, blur: 0 });
    }
    await fillTabs(ctx);
  });
}

async function fillReminders(ctx: UserContext): Promise<void> {
  if ((await listReminders(ctx, 'open')).length > 0) return;
  const dueIn = {
    [mailedTitle]: 10 * SECOND,
    'Wartungsvertrag kündigen': 3 * DAY,
    'Zertifikat der Website erneuern': 14 * DAY,
  };
  for (const [title, ms] of Object.entries(dueIn)) {
    const dueAt = new Date(Date.now() + ms).toISOString();
    await createReminder(ctx, NewReminder.parse({ title, dueAt, emailEnabled: title === mailedTitle }));
  }
}

/** Makes the mailed reminder due again, so that `pnpm demo serve` prints a mail. */
export const remindAgain = ({ as }: Pick<Demo, 'as'>): Promise<void> =>
  as('mara.muster', async (ctx) => {
    const due = (await listReminders(ctx, 'due')).find(({ title }) => title === mailedTitle);
    if (due) await snoozeReminder(ctx, due.id, { minutes: 1 });
  });

async function fillTabs(ctx: UserContext): Promise<void> {
  const [first] = await listTabs(ctx);
  if (first === undefined || (await listWidgets(ctx, first.id)).length > 0) return;
  const [image] = await listImages(ctx);
  const sourceIds = (await listSources(ctx)).map(({ id }) => id);
  await renameTab(ctx, first.id, 'Überblick');
  const second = await createTab(ctx, 'Technik');
  const widgets: [tabId: string, type: string, config: Record<string, unknown>][] = [
    [first.id, 'clock', { timeZone: 'Europe/Berlin' }],
    [first.id, 'reminders', {}],
    [first.id, 'calendar', { sourceIds, days: 7 }],
    [first.id, 'notes', { text: 'Montags Jour fixe, dienstags Wartungsfenster.' }],
    [first.id, 'picture-frame', { imageIds: image ? [image.id] : [], fit: 'cover' }],
    [first.id, 'favorites', { columns: 3 }],
    [first.id, 'tender-radar', { limit: 10 }],
    [second.id, 'virtualization-status', {}],
    [second.id, 'backup-status', {}],
    [second.id, 'mail-gateway-status', {}],
    [second.id, 'cloud-status', {}],
    [second.id, 'embedded-page', { url: `https://wetter.${domain}/`, title: 'Wetter' }],
  ];
  for (const [tabId, type, config] of widgets) {
    const widget = await addWidget(ctx, { tabId, type, config });
    if (type === 'favorites') await fillFavorites(ctx, widget.id);
  }
  for (const { id } of [first, second]) {
    const lg = (await listWidgets(ctx, id)).map((widget, n) => ({
      i: widget.id,
      x: (n % 3) * 8,
      y: Math.floor(n / 3) * 10,
      w: 8,
      h: 10,
    }));
    await saveLayout(ctx, id, LayoutInput.parse({ __gridVersion: 2, layouts: { lg } }));
  }
}

const favoriteIcons: Record<string, string> = {
  Wiki: '<path fill="#2563eb" d="M1 1h5a1 1 0 0 1 1 1v5H2a1 1 0 0 1-1-1z"/><path stroke="#fff" stroke-width=".6" d="M2.3 3h3.4M2.3 4.4h3.4"/>',
  Zeiterfassung:
    '<circle cx="4" cy="4" r="3.2" fill="#d97706"/><path fill="none" stroke="#fff" stroke-width=".7" d="M4 2v2l1.4 1"/>',
  Ratsinformation:
    '<path fill="#047857" d="M4 .6 7.4 2.6H.6zM1 3.2h1v2.6H1zm2.5 0h1v2.6h-1zM6 3.2h1v2.6H6zM.6 6.2h6.8v1H.6z"/>',
};

async function fillFavorites(ctx: UserContext, widgetId: string): Promise<void> {
  for (const [name, icon] of Object.entries(favoriteIcons)) {
    const favorite = await addFavorite(ctx, { widgetId, title: name, url: `https://${name.toLowerCase()}.${domain}/` });
    await uploadIcon(ctx, favorite.id, async () => svgIcon(icon));
  }
}

/** A drawn evening: a water tower on hills. */
function waterTower(): Buffer {
  const [width, height] = [960, 600];
  const hill = (x: number, base: number, wave: number) => base + 26 * Math.sin(x / wave) + 12 * Math.sin(x / 47);
  return pngPicture(width, height, (x, y) => {
    if (y > hill(x, 520, 190)) return [30, 58, 62];
    const isStem = Math.abs(x - 690) < 26 && y > 300;
    const isTank = Math.abs(x - 690) < 84 - Math.max(0, y - 250) && y > 190 && y < 320;
    const isRoof = y > 140 && y <= 190 && Math.abs(x - 690) < (y - 138) * 1.7;
    if (isStem || isTank || isRoof) return isRoof ? [120, 53, 42] : [74, 67, 82];
    if (y > hill(x + 300, 450, 260)) return [52, 88, 94];
    if (Math.hypot(x - 270, y - 330) < 54) return [255, 226, 168];
    const evening = y / height;
    return [92 + 150 * evening, 122 + 62 * evening, 168 - 38 * evening];
  });
}
