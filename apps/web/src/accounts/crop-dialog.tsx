import { ArrowDown, ArrowLeft, ArrowRight, ArrowUp, ZoomIn, ZoomOut } from 'lucide';
import type { ComponentChildren, TargetedPointerEvent } from 'preact';
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { formatNumber } from '../language.ts';
import { Button, IconButton } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Form } from '../ui/form.tsx';
import { showToast } from '../ui/toast.tsx';
import { VisuallyHidden } from '../ui/visually-hidden.tsx';
import s from './crop-dialog.module.css';
import { type Crop, maxZoom, moveCrop, squareOf, startCrop, zoomCrop } from './crop.ts';
import { texts } from './profile-texts.ts';
import { useSaveAvatar } from './queries.ts';
import { RangeField } from './range-field.tsx';

// The side of the avatar that the service stores.
const avatarSide = 512;
const zoomStep = 0.1;

/** Chooses the square of a picture that becomes the avatar, and saves it. */
export function CropDialog({ picture, onClose }: { picture: ImageBitmap; onClose: () => void }) {
  const t = texts.value;
  const stage = useRef<HTMLCanvasElement>(null);
  const large = useRef<HTMLCanvasElement>(null);
  const small = useRef<HTMLCanvasElement>(null);
  const [crop, setCrop] = useState(() => startCrop(picture));
  const save = useSaveAvatar();
  const move = (right: number, down: number) => setCrop((now) => moveCrop(now, picture, right, down));
  const zoom = (by: number) => setCrop((now) => zoomCrop(now, picture, now.zoom + by));

  useEffect(() => () => picture.close(), [picture]);
  useLayoutEffect(() => {
    for (const { current } of [stage, large, small]) if (current) draw(current, picture, crop);
  }, [picture, crop]);

  const submit = async () => {
    if (!stage.current) return;
    await save.mutateAsync(await blobOf(stage.current));
    showToast(t.avatarSaved, { kind: 'success' });
    onClose();
  };

  return (
    <Dialog title={t.cropTitle} onClose={onClose}>
      <Form
        onSubmit={submit}
        error={save.error}
        actions={
          <>
            <Button type="submit" kind="primary" busy={save.isPending}>
              {t.saveAvatar}
            </Button>
            <Button onClick={onClose}>{t.cancel}</Button>
          </>
        }
      >
        <div class={s.work}>
          <Stage onMove={move} onZoom={zoom}>
            <canvas ref={stage} width={avatarSide} height={avatarSide} />
          </Stage>
          <div class={s.previews} role="img" aria-label={t.preview}>
            <canvas ref={large} width={192} height={192} class={s.large} />
            <canvas ref={small} width={64} height={64} class={s.small} />
          </div>
        </div>
        <RangeField
          label={t.zoom}
          name="zoom"
          value={crop.zoom}
          min={1}
          max={maxZoom}
          step={0.05}
          text={`${formatNumber(100 * crop.zoom, 0)} %`}
          onInput={(value) => zoom(value - crop.zoom)}
        />
        <div class={s.buttons}>
          <IconButton icon={ZoomOut} label={t.zoomOut} onClick={() => zoom(-zoomStep)} />
          <IconButton icon={ZoomIn} label={t.zoomIn} onClick={() => zoom(zoomStep)} />
          <IconButton icon={ArrowLeft} label={t.moveLeft} onClick={() => move(-step, 0)} />
          <IconButton icon={ArrowRight} label={t.moveRight} onClick={() => move(step, 0)} />
          <IconButton icon={ArrowUp} label={t.moveUp} onClick={() => move(0, -step)} />
          <IconButton icon={ArrowDown} label={t.moveDown} onClick={() => move(0, step)} />
        </div>
        <VisuallyHidden>
          <span role="status">{t.position(...centreOf(crop, picture))}</span>
        </VisuallyHidden>
      </Form>
    </Dialog>
  );
}

// Parts of the side of the square.
const step = 0.05;
const largeStep = 0.25;

interface StageProps {
  onMove: (right: number, down: number) => void;
  onZoom: (by: number) => void;
  children: ComponentChildren;
}

/** Takes drags and keys. The picture follows the pointer, so the square moves against it. */
function Stage({ onMove, onZoom, children }: StageProps) {
  const t = texts.value;
  const hintId = useId();
  const drag = useRef<Pick<PointerEvent, 'pointerId' | 'clientX' | 'clientY'> | null>(null);
  const onKeyDown = (event: KeyboardEvent) => {
    const act = keys(event.shiftKey ? largeStep : step, onMove, onZoom)[event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
  };
  const onPointerDown = ({ currentTarget, pointerId, clientX, clientY }: TargetedPointerEvent<HTMLElement>) => {
    currentTarget.setPointerCapture(pointerId);
    drag.current = { pointerId, clientX, clientY };
  };
  const onPointerMove = ({ currentTarget, pointerId, clientX, clientY }: TargetedPointerEvent<HTMLElement>) => {
    const last = drag.current;
    if (last?.pointerId !== pointerId || !currentTarget.hasPointerCapture(pointerId)) return;
    const side = currentTarget.clientWidth;
    onMove((last.clientX - clientX) / side, (last.clientY - clientY) / side);
    drag.current = { pointerId, clientX, clientY };
  };
  return (
    <div class={s.crop}>
      {/* oxlint-disable jsx-a11y/no-noninteractive-tabindex, jsx-a11y/no-noninteractive-element-interactions -- an application is a widget */}
      <div
        class={s.stage}
        role="application"
        tabIndex={0}
        aria-label={t.cropStage}
        aria-describedby={hintId}
        onKeyDown={onKeyDown}
        onPointerDown={onPointerDown}
        onPointerMove={onPointerMove}
      >
        {children}
      </div>
      {/* oxlint-enable jsx-a11y/no-noninteractive-tabindex, jsx-a11y/no-noninteractive-element-interactions */}
      <p class={s.hint} id={hintId}>
        {t.cropHint}
      </p>
    </div>
  );
}

function keys(by: number, onMove: StageProps['onMove'], onZoom: StageProps['onZoom']): Record<string, () => void> {
  return {
    ArrowLeft: () => onMove(-by, 0),
    ArrowRight: () => onMove(by, 0),
    ArrowUp: () => onMove(0, -by),
    ArrowDown: () => onMove(0, by),
    '+': () => onZoom(zoomStep),
    '-': () => onZoom(-zoomStep),
  };
}

function draw(canvas: HTMLCanvasElement, picture: ImageBitmap, crop: Crop): void {
  const context = canvas.getContext('2d');
  if (!context) return;
  const { left, top, side } = squareOf(crop, picture);
  context.clearRect(0, 0, canvas.width, canvas.height);
  context.imageSmoothingQuality = 'high';
  context.drawImage(picture, left, top, side, side, 0, 0, canvas.width, canvas.height);
}

/** The centre of the square in percent of the picture, from left and from top. */
const centreOf = ({ x, y }: Crop, { width, height }: ImageBitmap): [right: string, down: string] => [
  formatNumber((100 * x) / width, 0),
  formatNumber((100 * y) / height, 0),
];

/** WebP; PNG from browsers that cannot write it. */
const blobOf = (canvas: HTMLCanvasElement) =>
  new Promise<Blob>((resolve, reject) => {
    const take = (blob: Blob | null) => (blob ? resolve(blob) : reject(new Error('The canvas gave no picture.')));
    canvas.toBlob(take, 'image/webp', 0.92);
  });
