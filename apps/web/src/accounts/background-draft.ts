import type { DashboardBackground } from '@portal/client/interface';
import { colorOf } from './color.ts';

/** The fields of all kinds of background at once, so that trying another kind forgets nothing. Colours are as typed. */
export interface BackgroundDraft {
  kind: DashboardBackground['kind'];
  color: string;
  from: string;
  to: string;
  angle: number;
  /** Empty as long as no picture is chosen. */
  imageId: string;
  fit: 'cover' | 'contain' | 'tile';
  dim: number;
  blur: number;
}

const defaults: BackgroundDraft = {
  kind: 'none',
  color: '#e2e8f0',
  from: '#1e3a8a',
  to: '#0f766e',
  angle: 135,
  imageId: '',
  fit: 'cover',
  dim: 20,
  blur: 0,
};

export const draftOf = (background: DashboardBackground): BackgroundDraft => ({ ...defaults, ...background });

/** What is sent. What is no colour goes as typed, and the service refuses it by the name of its field. */
export function backgroundOf({ kind, ...draft }: BackgroundDraft): DashboardBackground {
  switch (kind) {
    case 'none':
      return { kind };
    case 'color':
      return { kind, color: sent(draft.color) };
    case 'gradient':
      return { kind, from: sent(draft.from), to: sent(draft.to), angle: draft.angle };
    case 'image': {
      const { imageId, fit, dim, blur } = draft;
      return { kind, imageId, fit, dim, blur };
    }
  }
}

/** Whether there is something to show: colours that are some, and a picture. */
export function isComplete(background: DashboardBackground): boolean {
  switch (background.kind) {
    case 'none':
      return true;
    case 'color':
      return colorOf(background.color) !== null;
    case 'gradient':
      return colorOf(background.from) !== null && colorOf(background.to) !== null;
    case 'image':
      return background.imageId !== '';
  }
}

const sent = (typed: string): string => colorOf(typed) ?? typed;
