import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

// V8 lets 64 MB of buffers nobody needs any more gather before it looks; a look at the young ones takes a millisecond.
const collectAfterBytes = 4 * 1024 * 1024;

/** For work that goes through many buffers: told how many bytes it is done with, it has V8 free those now and then. */
export function bufferCollector(): (bytes: number) => void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as (options: { type: 'minor' }) => void;
  let bytes = 0;
  return (more) => {
    bytes += more;
    if (bytes < collectAfterBytes) return;
    bytes = 0;
    collect({ type: 'minor' });
  };
}
