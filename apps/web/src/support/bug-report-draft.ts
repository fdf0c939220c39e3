import { signal } from '@preact/signals';
import { me } from '../session.ts';
import type { Picture } from './picture.ts';

interface Draft {
  title: string;
  description: string;
  picture: Picture | null;
}

const empty: Draft = { title: '', description: '', picture: null };

/** What was written but not sent. It outlives the dialog, but not the account that wrote it. */
const kept = signal<{ accountId: string | undefined; draft: Draft }>({ accountId: undefined, draft: empty });

export const draftOfReport = (): Draft => (kept.value.accountId === me.value?.id ? kept.value.draft : empty);

export function changeDraft(changes: Partial<Draft>): void {
  kept.value = { accountId: me.value?.id, draft: { ...draftOfReport(), ...changes } };
}

export const forgetDraft = (): void => changeDraft(empty);

export const isBlank = ({ title, description, picture }: Draft): boolean =>
  title.trim() === '' && description.trim() === '' && picture === null;
