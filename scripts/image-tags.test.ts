import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const program = fileURLToPath(new URL('./image-tags', import.meta.url));
const imageTags = (...references: string[]) => spawnSync(program, references, { encoding: 'utf8' });

describe('image-tags', () => {
  it.each(['main', 'refs/heads/main'])('tags the image of %s beta and latest', (reference) => {
    const { status, stdout } = imageTags(reference);
    expect(status).toBe(0);
    expect(stdout).toBe('channel=beta\nversion=dev\ntags=beta,latest\n');
  });

  it.each(['v1.20.3', 'refs/tags/v1.20.3'])('tags the release %s with its number and live', (reference) => {
    const { status, stdout } = imageTags(reference);
    expect(status).toBe(0);
    expect(stdout).toBe('channel=live\nversion=1.20.3\ntags=1.20.3,live\n');
  });

  it.each([
    '',
    'develop',
    'refs/heads/v1.2.3',
    'refs/tags/main',
    'v1.2',
    '1.2.3',
    'v1.2.3.4',
    'v01.2.3',
    'v1.2.3-rc.1',
    'v1.2.3+x',
    'v1.2.3\n',
    'xv1.2.3',
  ])('publishes nothing from %j', (reference) => {
    const { status, stdout, stderr } = imageTags(reference);
    expect(status).toBe(1);
    expect(stdout).toBe('');
    expect(stderr).toContain(`no image is published from ${JSON.stringify(reference)}`);
  });

  it.each([[[]], [['main', 'v1.2.3']]])('needs exactly one reference, not %j', (references) => {
    const { status, stderr } = imageTags(...references);
    expect(status).toBe(1);
    expect(stderr).toContain('one Git reference is needed');
  });
});
