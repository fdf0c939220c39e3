import { describe, expect, it } from 'vitest';
import { leadsAway } from './unsaved.ts';

const origin = 'https://portal.example';
const plain = { button: 0, ctrlKey: false, metaKey: false, altKey: false, shiftKey: false };

const linkTo = (href: string, attributes: { target?: string; download?: string } = {}) => {
  const { origin: linkOrigin, pathname, search } = new URL(href, `${origin}/app/admin/mail`);
  return { origin: linkOrigin, pathname, search, target: '', download: '', ...attributes, getAttribute: () => href };
};

const leads = (click: Partial<typeof plain>, link: ReturnType<typeof linkTo>) =>
  leadsAway({ ...plain, ...click }, link, '/app/admin/mail', origin);

describe('a click on a link', () => {
  it.each(['/app', '/app/admin/mail?tab=test', 'users', '/app/admin/users/1'])('to %s leads away', (href) => {
    expect(leads({}, linkTo(href))).toBe(true);
    expect(leads({}, linkTo(href, { target: '_self' }))).toBe(true);
  });

  it.each(['#main', '/app/admin/mail', 'https://elsewhere.example/app', 'mailto:a@b.example'])(
    'to %s does not',
    (href) => expect(leads({}, linkTo(href))).toBe(false),
  );

  it('that opens beside the page or saves a file does not', () => {
    expect(leads({ ctrlKey: true }, linkTo('/app'))).toBe(false);
    expect(leads({ metaKey: true }, linkTo('/app'))).toBe(false);
    expect(leads({ shiftKey: true }, linkTo('/app'))).toBe(false);
    expect(leads({ button: 1 }, linkTo('/app'))).toBe(false);
    expect(leads({}, linkTo('/docs', { target: '_blank' }))).toBe(false);
    expect(leads({}, linkTo('/file', { download: 'file.zip' }))).toBe(false);
  });
});
