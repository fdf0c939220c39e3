import { expect, it } from 'vitest';
import { cleanLines, isolated, oneLine } from './safe-text.ts';

it('keeps line ends and drops other control characters and direction marks', () => {
  expect(cleanLines('a\r\nb\tc\u0000\u001b[31m\u202e\u2066\u2028d\ud800')).toBe('a\nb c[31m\nd\ufffd');
});

it('puts everything on one line', () => {
  expect(oneLine(' Erika\r\n\r\n  Beispiel\u00a0')).toBe('Erika Beispiel');
});

it('isolates only right-to-left text', () => {
  expect(isolated('Müller 🦊')).toBe('Müller 🦊');
  expect(isolated('محمد')).toBe('\u2068محمد\u2069');
});
