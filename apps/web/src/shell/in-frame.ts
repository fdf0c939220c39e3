import { createContext } from 'preact';

/** True inside the frame, which has the main landmark. A page without a frame needs its own. */
export const InFrame = createContext(false);
