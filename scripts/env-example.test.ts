import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readConfig, Settings } from '@portal/platform/config';

interface Line {
  name: string;
  value: string;
  description: string;
  isCommentedOut: boolean;
}

/** Paragraphs that end in `NAME=value`; the lines above are the description. Other paragraphs are prose. */
const lines: Line[] = readFileSync(new URL('../.env.example', import.meta.url), 'utf8')
  .split(/\n\s*\n/)
  .flatMap((paragraph) => {
    const [last, ...above] = paragraph.trim().split('\n').toReversed();
    const setting = /^(#?)([A-Z][A-Z0-9_]*)=(.*)$/.exec(last ?? '');
    if (!setting) return [];
    const [, sign, name = '', value = ''] = setting;
    const description = above
      .toReversed()
      .map((line) => line.replace(/^# /, ''))
      .join(' ');
    return [{ name, value, description, isCommentedOut: sign === '#' }];
  });

const schemas = Object.entries(Settings.shape);
const key = `k1:${Buffer.alloc(32).toString('base64')}`;
const needed = { DATABASE_URL: 'postgres://portal@127.0.0.1/portal', SESSION_SECRET: key, SECRETS_KEYS: key };

describe('.env.example', () => {
  it('names every setting once, in the order of the schema', () => {
    expect(lines.map((line) => line.name)).toEqual(schemas.map(([name]) => name));
  });

  it('describes each setting as the schema does', () => {
    expect(lines.map(({ name, description }) => [name, description])).toEqual(
      schemas.map(([name, schema]) => [name, schema.description]),
    );
  });

  it('comments out exactly the optional settings', () => {
    const optional = schemas.filter(([, schema]) => schema.safeParse(undefined).success).map(([name]) => name);
    expect(lines.filter((line) => line.isCommentedOut).map((line) => line.name)).toEqual(optional);
    expect(Object.keys(needed).toSorted()).toEqual(
      lines
        .filter((line) => !line.isCommentedOut)
        .map((line) => line.name)
        .toSorted(),
    );
  });

  it('shows the defaults, so uncommenting everything changes nothing', () => {
    const shown = Object.fromEntries(
      lines.filter((line) => line.isCommentedOut).map(({ name, value }) => [name, value]),
    );
    expect(readConfig({ ...needed, ...shown })).toEqual(readConfig(needed));
  });

  it.each(lines.filter((line) => line.isCommentedOut && line.value === ''))(
    'leaves $name empty because it has no default',
    ({ name }) => {
      const schema = Settings.shape[name as keyof typeof Settings.shape];
      const unset = schema.safeParse(undefined);
      expect(unset.success).toBe(true);
      if (unset.data !== undefined) expect(unset.data).toEqual(schema.safeParse('').data);
    },
  );
});
