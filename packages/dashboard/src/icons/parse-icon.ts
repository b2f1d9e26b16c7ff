/** One drawn element of an icon. */
export interface IconShape {
  readonly tag: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly IconShape[];
}

const TAGS = new Set(['path', 'circle', 'ellipse', 'rect', 'line', 'polyline', 'polygon', 'g']);

const NUMBER = /^-?[\d.]+$/;
const PAINT = /^(?:none|currentColor)$/;
const KEYWORD = /^(?:round|butt|square|miter|bevel|evenodd|nonzero)$/;
const POINTS = /^[\d\s,.eE+-]+$/;
const TRANSFORM = /^(?:(?:rotate|translate|scale)\([\d\s,.+-]+\)\s*)+$/;

/** Attributes that an icon may carry and the form of their values. Nothing here can load or run anything. */
const ATTRIBUTES: ReadonlyMap<string, RegExp> = new Map([
  ['d', /^[MmLlHhVvCcSsQqTtAaZz\d\s,.eE+-]+$/],
  ['points', POINTS],
  ['transform', TRANSFORM],
  ...['cx', 'cy', 'r', 'rx', 'ry', 'x', 'y', 'x1', 'x2', 'y1', 'y2', 'width', 'height'].map(number),
  ...['stroke-width', 'opacity', 'fill-opacity', 'stroke-opacity'].map(number),
  ...['fill', 'stroke'].map((name): [string, RegExp] => [name, PAINT]),
  ...['stroke-linecap', 'stroke-linejoin', 'fill-rule', 'clip-rule'].map((name): [string, RegExp] => [name, KEYWORD]),
]);

function number(name: string): [string, RegExp] {
  return [name, NUMBER];
}

/**
 * Reads the text of an icon file into plain shapes. Elements and attributes outside the small set that the icons
 * need are dropped, whatever the file holds; null when nothing that can be drawn is left.
 */
export function parseIcon(text: string): readonly IconShape[] | null {
  const root = new DOMParser().parseFromString(text, 'image/svg+xml').documentElement;
  if (root.localName !== 'svg') return null;
  const shapes = readShapes(root);
  return shapes.length === 0 ? null : shapes;
}

function readShapes(parent: Element): IconShape[] {
  return Array.from(parent.children)
    .filter((element) => TAGS.has(element.localName))
    .map((element) => ({
      tag: element.localName,
      attributes: readAttributes(element),
      children: readShapes(element),
    }));
}

function readAttributes(element: Element): Record<string, string> {
  const kept = Array.from(element.attributes).filter(({ name, value }) => ATTRIBUTES.get(name)?.test(value) === true);
  return Object.fromEntries(kept.map(({ name, value }) => [name, value]));
}
