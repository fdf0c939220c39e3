import { useEffect, useState } from 'preact/hooks';

/** Below this, a day of seven has no room for words. */
const narrowPx = 640;

const roomNow = () => ({ isNarrow: innerWidth < narrowPx, heightPx: innerHeight });

/** How much room the window has. */
export function useRoom() {
  const [room, setRoom] = useState(roomNow);
  useEffect(() => {
    const update = () => setRoom(roomNow());
    addEventListener('resize', update);
    return () => removeEventListener('resize', update);
  }, []);
  return room;
}
