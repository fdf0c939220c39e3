import type { Locator, Page } from 'playwright-core';

export interface ChosenFile {
  name: string;
  mimeType: string;
  buffer: Buffer;
}

/** Presses a button that opens the browser's choice of files, and chooses these. Large ones by their path: the page would copy each byte. */
export async function chooseFiles(page: Page, button: Locator, ...files: ChosenFile[] | [path: string]): Promise<void> {
  const [chooser] = await Promise.all([page.waitForEvent('filechooser'), button.click()]);
  await chooser.setFiles(files);
}
