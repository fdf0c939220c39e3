import { describe, expect, it } from 'vitest';
import { framingRefusal } from './framing.ts';

describe('a framed page', () => {
  it.each([
    ['https://wiki.example.org/start', null],
    ['https://portal.example.org:8443/', null],
    ['https://portal.example.org/app', 'ownOrigin'],
    ['https://PORTAL.example.org:443/docs', 'ownOrigin'],
    ['http://wiki.example.org/', 'notHttps'],
    ['javascript:alert(1)', 'notHttps'],
    ['data:text/html,x', 'notHttps'],
    ['/app', 'notHttps'],
    ['', 'notHttps'],
  ])('at %j: %s', (url, expected) => {
    expect(framingRefusal(url, 'https://portal.example.org')).toBe(expected);
  });
});
