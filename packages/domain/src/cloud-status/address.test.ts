import { describe, expect, it } from 'vitest';
import { isSameCloud, StatusAddress, statusDocumentOf } from './address.ts';

const root = 'https://cloud.example.org/status.php';

describe('the address of a cloud', () => {
  it.each([
    ['https://cloud.example.org', root],
    ['https://cloud.example.org/', root],
    ['https://cloud.example.org///', root],
    ['https://cloud.example.org/index.php/login', root],
    ['https://cloud.example.org/index.php', root],
    ['https://cloud.example.org/login', root],
    ['https://cloud.example.org/login?redirect_url=/apps/files#top', root],
    ['https://cloud.example.org/apps/dashboard/', root],
    ['https://cloud.example.org/status.php', root],
    ['https://cloud.example.org/status.php?a=1', root],
    ['https://example.org/nextcloud', 'https://example.org/nextcloud/status.php'],
    ['https://example.org/nextcloud/', 'https://example.org/nextcloud/status.php'],
    ['https://example.org/a/b/index.php/apps/files', 'https://example.org/a/b/status.php'],
    ['https://example.org/nextcloud/status.php', 'https://example.org/nextcloud/status.php'],
    ['https://example.org/apps/cloud/status.php', 'https://example.org/apps/cloud/status.php'],
    ['http://cloud.example.org:8080/login', 'http://cloud.example.org:8080/status.php'],
    ['https://[2001:db8::1]/cloud', 'https://[2001:db8::1]/cloud/status.php'],
  ])('%s leads to %s', (typed, document) => {
    expect(statusDocumentOf(StatusAddress.parse(typed)).href).toBe(document);
  });

  it.each([
    ['cloud.example.org', 'https://cloud.example.org'],
    [' cloud.example.org:8443/nextcloud ', 'https://cloud.example.org:8443/nextcloud'],
    ['localhost:8080', 'https://localhost:8080'],
    ['http://cloud.example.org', 'http://cloud.example.org'],
    ['HTTPS://Cloud.example.org', 'HTTPS://Cloud.example.org'],
  ])('typed as %s is %s', (typed, stored) => {
    expect(StatusAddress.parse(typed)).toBe(stored);
  });

  it.each([
    '',
    'cloud',
    'not-an-address',
    'ftp://cloud.example.org',
    'javascript:alert(1)',
    'https://',
    'https://user:secret@cloud.example.org',
    'user@cloud.example.org',
    'https://cloud.example.org\\@evil.example',
    `https://cloud.example.org/${'a'.repeat(2_048)}`,
    null,
    7,
  ])('is not %s', (typed) => {
    expect(StatusAddress.safeParse(typed).success).toBe(false);
  });
});

describe('a redirect', () => {
  it.each([
    ['http://a.example/status.php', 'https://a.example/status.php', true],
    ['https://a.example/status.php', 'https://a.example/nextcloud/status.php', true],
    ['http://a.example/status.php', 'http://a.example:8080/status.php', true],
    ['https://a.example/status.php', 'http://a.example/status.php', false],
    ['https://a.example/status.php', 'https://b.example/status.php', false],
    ['https://a.example/status.php', 'https://a.example/login', false],
    ['https://a.example/status.php', 'https://a.example/index.php/Login/', false],
  ])('from %s to %s is followed: %s', (from, to, isFollowed) => {
    expect(isSameCloud(new URL(to), new URL(from))).toBe(isFollowed);
  });
});
