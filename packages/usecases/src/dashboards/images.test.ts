import { readdir, unlink, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { eq } from 'drizzle-orm';
import { expect, it } from 'vitest';
import { users } from '@portal/db/schema/accounts/users';
import { dashboardImages } from '@portal/db/schema/dashboards/tabs';
import { newId } from '@portal/domain/ids';
import { sweepOrphanFiles } from '@portal/platform/files/sweep-orphans';
import { tinyGif } from '@portal/testing/pictures';
import { testRuntime } from '@portal/testing/runtime';
import { dashboards } from './area.ts';
import { setDashboardBackground } from './background.ts';
import { addImage, deleteImage, getImage, listImages, openImage } from './images.ts';
import { createTab } from './tabs.ts';
import { addWidget, listWidgets } from './widgets.ts';

const { make, signedIn, config, system } = await testRuntime();
const newContext = async () => signedIn(await make.user());
type UserContext = Awaited<ReturnType<typeof newContext>>;

const upload = (ctx: UserContext, name: string | undefined = 'fest.gif') => addImage(ctx, { name, bytes: tinyGif });
const opened = async (ctx: UserContext, id: string) => {
  const image = await getImage(ctx, id);
  return { type: image.type, file: await openImage(ctx, image) };
};
const storedFiles = async () =>
  (
    await readdir(join(config.dataDir, 'files/dashboard-images'), { recursive: true, withFileTypes: true }).catch(
      () => [],
    )
  )
    .filter((entry) => entry.isFile())
    .map(({ name }) => name);

it('stores a picture byte for byte under its id and type, independent of its name', async () => {
  const ctx = await newContext();
  const bytes = Buffer.concat([tinyGif, Buffer.from('and what a camera writes behind it')]);
  const image = await addImage(ctx, { name: '../../Sommer\nfest.exe', bytes });
  expect(image).toEqual({
    id: expect.any(String),
    originalName: 'Sommerfest.exe',
    type: 'image/gif',
    sizeBytes: bytes.length,
    createdAt: expect.any(Date),
  });
  expect(await storedFiles()).toContain(`${image.id}.gif`);
  const { type, file } = await opened(ctx, image.id);
  expect([type, await buffer(file.stream)]).toEqual(['image/gif', bytes]);
  const second = await upload(ctx);
  expect(await listImages(ctx)).toEqual([image, second]);
});

it('refuses other files by their content, and stores nothing of them', async () => {
  const ctx = await newContext();
  const before = await storedFiles();
  for (const text of ['<svg xmlns="http://www.w3.org/2000/svg"/>', 'BM a bitmap', '', '%PDF-1.7']) {
    await expect(addImage(ctx, { name: 'a.png', bytes: Buffer.from(text) })).rejects.toMatchObject({
      kind: 'invalid',
      code: 'UNSUPPORTED_IMAGE',
    });
  }
  expect(await storedFiles()).toEqual(before);
  expect(await listImages(ctx)).toEqual([]);
});

it('deletes row and file', async () => {
  const ctx = await newContext();
  const { id } = await upload(ctx);
  await deleteImage(ctx, id);
  expect(await listImages(ctx)).toEqual([]);
  expect(await storedFiles()).not.toContain(`${id}.gif`);
  await expect(deleteImage(ctx, id)).rejects.toMatchObject({ kind: 'not_found' });
  await expect(opened(ctx, id)).rejects.toMatchObject({ kind: 'not_found' });
});

it('answers 404 if the file is missing', async () => {
  const ctx = await newContext();
  const { id } = await upload(ctx);
  const [row] = await ctx.read((db) => db.select().from(dashboardImages).where(eq(dashboardImages.id, id)));
  await unlink(join(config.dataDir, 'files', row?.storagePath ?? ''));
  await expect(opened(ctx, id)).rejects.toMatchObject({ kind: 'not_found' });
  await deleteImage(ctx, id);
});

it('removes a deleted picture from its owner’s background and picture frames', async () => {
  const ctx = await newContext();
  const [shown, other] = [await upload(ctx), await upload(ctx)];
  const background = (imageId: string) => ({ kind: 'image' as const, imageId, fit: 'cover' as const, dim: 0, blur: 0 });
  const { id: tabId } = await createTab(ctx);
  const frame = { tabId, type: 'picture-frame', config: { imageIds: [shown.id, other.id, shown.id], intervalSec: 30 } };
  await addWidget(ctx, frame);
  const storedBackground = async () =>
    (await ctx.read((db) => db.select().from(users).where(eq(users.id, ctx.actor.id))))[0]?.dashboardBackground;

  await setDashboardBackground(ctx, background(other.id));
  await deleteImage(ctx, shown.id);
  expect(await storedBackground()).toEqual(background(other.id));
  expect(await listWidgets(ctx, tabId)).toMatchObject([{ config: { imageIds: [other.id], intervalSec: 30 } }]);
  await deleteImage(ctx, other.id);
  expect(await storedBackground()).toBeNull();
  expect(await listWidgets(ctx, tabId)).toMatchObject([{ config: { imageIds: [], intervalSec: 30 } }]);
});

it('leaves no background of a picture that is deleted at the same time', async () => {
  const ctx = await newContext();
  for (let round = 0; round < 20; round += 1) {
    const { id: imageId } = await upload(ctx);
    const [set] = await Promise.allSettled([
      setDashboardBackground(ctx, { kind: 'image', imageId, fit: 'tile', dim: 0, blur: 0 }),
      deleteImage(ctx, imageId),
    ]);
    if (set.status === 'rejected') expect(set.reason).toMatchObject({ kind: 'not_found' });
    const [row] = await ctx.read((db) => db.select().from(users).where(eq(users.id, ctx.actor.id)));
    expect(row?.dashboardBackground).toBeNull();
  }
});

it('is kept by the sweep of files without a row, which removes the file of an upload without one', async () => {
  const ctx = await newContext();
  const { id } = await upload(ctx);
  const orphan = newId();
  await ctx.files.write('dashboard-images', orphan, 'gif', tinyGif, { maxBytes: 100 });
  const folder = join(config.dataDir, 'files/dashboard-images');
  for (const name of [id, orphan]) await utimes(join(folder, name.slice(-2), `${name}.gif`), 0, 0);
  await sweepOrphanFiles({ ...system(), files: ctx.files }, dashboards.files ?? [], new AbortController().signal);
  const files = await storedFiles();
  expect(files).toContain(`${id}.gif`);
  expect(files).not.toContain(`${orphan}.gif`);
});

it('is visible only to its owner', async () => {
  const ctx = await newContext();
  const { id } = await upload(ctx);
  const colleague = await signedIn(await make.user({ tenantId: ctx.tenantId, role: 'ADMIN' }));
  for (const other of [await newContext(), colleague]) {
    await expect(opened(other, id)).rejects.toMatchObject({ kind: 'not_found' });
    await expect(deleteImage(other, id)).rejects.toMatchObject({ kind: 'not_found' });
    expect(await listImages(other)).toEqual([]);
  }
  await expect(deleteImage(ctx, newId())).rejects.toMatchObject({ kind: 'not_found' });
  expect(await listImages(ctx)).toHaveLength(1);
});
