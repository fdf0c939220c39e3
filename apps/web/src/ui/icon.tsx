import type { IconNode } from 'lucide';
import s from './icon.module.css';

interface IconProps {
  icon: IconNode;
  size?: number | undefined;
  class?: string | undefined;
}

/** A picture from Lucide in the colour of the text. Words beside it say the same, so screen readers skip it. */
export const Icon = ({ icon, size = 16, class: name }: IconProps) => (
  <svg
    ref={drawingOf(icon)}
    class={name === undefined ? s.icon : `${s.icon} ${name}`}
    width={size}
    height={size}
    viewBox="0 0 24 24"
    aria-hidden
  />
);

type Draw = (svg: SVGSVGElement | null) => void;

const drawings = new WeakMap<IconNode, Draw>();

// Copies of shapes that were made once: Preact has one element to compare for each icon, not one for each shape.
function drawingOf(icon: IconNode): Draw {
  const known = drawings.get(icon);
  if (known) return known;
  const shapes = document.createDocumentFragment();
  for (const [tag, attributes] of icon) {
    const shape = document.createElementNS('http://www.w3.org/2000/svg', tag);
    for (const [name, value] of Object.entries(attributes)) shape.setAttribute(name, String(value));
    shapes.append(shape);
  }
  const draw: Draw = (svg) => svg?.replaceChildren(shapes.cloneNode(true));
  drawings.set(icon, draw);
  return draw;
}
