import { expect, it } from 'vitest';
import { markup } from './markup.ts';

it('escapes every string but not its own markup', () => {
  const inner = markup`<i>${'<&>'}</i>`;
  expect(markup`<a title="${'"\'x'}">${[inner, inner]}</a>`.source).toBe(
    '<a title="&quot;&#39;x"><i>&lt;&amp;&gt;</i><i>&lt;&amp;&gt;</i></a>',
  );
});
