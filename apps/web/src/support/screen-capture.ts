import { inBounds, type Picture } from './picture.ts';

export const canCapture = (): boolean =>
  typeof (navigator.mediaDevices as MediaDevices | undefined)?.getDisplayMedia === 'function';

/** Options that only some browsers know: they offer this tab first. */
const options: DisplayMediaStreamOptions & { preferCurrentTab: boolean; selfBrowserSurface: string } = {
  video: true,
  audio: false,
  preferCurrentTab: true,
  selfBrowserSurface: 'include',
};

/** Until a stream shows what changed on the screen. */
const settleMs = 400;

/** One picture of what the person chooses to share. `hide` takes away what covers the page, and returns how to bring it back. */
export async function captureScreen(hide: () => () => void): Promise<Picture> {
  const stream = await navigator.mediaDevices.getDisplayMedia(options);
  const show = hide();
  try {
    const video = document.createElement('video');
    video.muted = true;
    video.srcObject = stream;
    await video.play();
    await new Promise((resolve) => setTimeout(resolve, settleMs));
    return { image: await inBounds(await createImageBitmap(video)), blacked: [] };
  } finally {
    show();
    for (const track of stream.getTracks()) track.stop();
  }
}

/** Whether the person decided against it. A system that forbids it gives the same kind of error. */
export const wasRefusedByPerson = (error: unknown): boolean =>
  error instanceof DOMException && error.name === 'NotAllowedError' && !error.message.includes('system');
