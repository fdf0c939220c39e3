import { EyeOff, Undo2 } from 'lucide';
import type { TargetedPointerEvent } from 'preact';
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { Button } from '../ui/button.tsx';
import { isTooSmall, type Part, partBetween, pixelsOf, stepPart } from './blacked.ts';
import s from './bug-report.module.css';
import { drawPicture, type Picture } from './picture.ts';
import { texts } from './texts.ts';

interface RedactionProps {
  picture: Picture;
  onChange: (picture: Picture) => void;
  onRemove: () => void;
}

/** Shows a picture as it will be sent, and blacks out parts of it. */
export function Redaction({ picture, onChange, onRemove }: RedactionProps) {
  const t = texts.value;
  const { blacked } = picture;
  const black = (part: Part) => onChange({ ...picture, blacked: [...blacked, part] });
  return (
    <>
      <p role="status">{blacked.length === 0 ? t.pictureThere : t.blacked(blacked.length)}</p>
      <Stage picture={picture} onBlack={black} />
      <div class={s.row}>
        {blacked.length > 0 && (
          <Button icon={Undo2} onClick={() => onChange({ ...picture, blacked: blacked.slice(0, -1) })}>
            {t.undoBlack}
          </Button>
        )}
        <Button icon={EyeOff} onClick={onRemove}>
          {t.removePicture}
        </Button>
      </div>
    </>
  );
}

const firstFrame: Part = { left: 0.4, top: 0.45, width: 0.2, height: 0.1 };
const step = 0.02;
const frameColor = '#f0f';

/** Takes drags and keys. */
function Stage({ picture, onBlack }: { picture: Picture; onBlack: (part: Part) => void }) {
  const t = texts.value;
  const hintId = useId();
  const canvas = useRef<HTMLCanvasElement>(null);
  const stage = useRef<HTMLDivElement>(null);
  const start = useRef<{ pointerId: number; x: number; y: number } | null>(null);
  /** What is about to be blacked out. */
  const [frame, setFrame] = useState<Part | null>(null);
  const { image } = picture;

  useEffect(() => stage.current?.focus(), []);
  useLayoutEffect(() => {
    const { current } = canvas;
    const context = current && drawPicture(current, picture);
    if (!current || !context || !frame) return;
    const { x, y, width, height } = pixelsOf(frame, current);
    context.lineWidth = Math.max(2, image.width / 400);
    context.strokeStyle = frameColor;
    context.strokeRect(x, y, width, height);
  }, [picture, frame]);

  const pointOf = ({ currentTarget, clientX, clientY }: TargetedPointerEvent<HTMLElement>) => {
    const { left, top, width, height } = currentTarget.getBoundingClientRect();
    return { x: (clientX - left) / width, y: (clientY - top) / height };
  };
  const onPointerDown = (event: TargetedPointerEvent<HTMLElement>) => {
    if (event.button !== 0) return;
    event.currentTarget.setPointerCapture(event.pointerId);
    start.current = { pointerId: event.pointerId, ...pointOf(event) };
  };
  const onPointerMove = (event: TargetedPointerEvent<HTMLElement>) => {
    if (start.current?.pointerId === event.pointerId) setFrame(partBetween(start.current, pointOf(event)));
  };
  const onPointerUp = (event: TargetedPointerEvent<HTMLElement>) => {
    if (start.current?.pointerId !== event.pointerId) return;
    const part = partBetween(start.current, pointOf(event));
    start.current = null;
    setFrame(null);
    if (!isTooSmall(part)) onBlack(part);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const { key, shiftKey } = event;
    const [right, down] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[key] ?? [];
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (right !== undefined && down !== undefined) {
      event.preventDefault();
      setFrame((now) => (now ? stepPart(now, right * step, down * step, shiftKey) : firstFrame));
    } else if (key === 'Enter') {
      event.preventDefault();
      // The first press shows the frame.
      if (frame) onBlack(frame);
      else setFrame(firstFrame);
    }
  };
  return (
    <div>
      {/* oxlint-disable jsx-a11y/no-noninteractive-tabindex, jsx-a11y/no-noninteractive-element-interactions -- an application is a widget */}
      <div
        ref={stage}
        class={s.stage}
        role="application"
        tabIndex={0}
        aria-label={t.stage}
        aria-describedby={hintId}
        onKeyDown={onKeyDown}
        onBlur={() => setFrame(null)}
        onPointerDown={onPointerDown}
        onPointerMove={onPointerMove}
        onPointerUp={onPointerUp}
        onPointerCancel={() => {
          start.current = null;
          setFrame(null);
        }}
      >
        <canvas ref={canvas} width={image.width} height={image.height} />
      </div>
      {/* oxlint-enable jsx-a11y/no-noninteractive-tabindex, jsx-a11y/no-noninteractive-element-interactions */}
      <p class={s.muted} id={hintId}>
        {t.stageHint}
      </p>
    </div>
  );
}
