import { createElement, type ReactNode, useEffect, useState } from 'react';
import { classes } from './dom.js';
import { useUiHost } from './portals.js';

/** Icons that are mirrored in right-to-left. */
const DIRECTED = new Set(['arrow-right', 'chevron-left', 'chevron-right', 'logout', 'external']);

export interface IconProps {
  readonly name: string;
  /** 16, 20 or 24 CSS pixels. */
  readonly size?: 16 | 20 | 24;
  readonly stroke?: number;
}

/** A decorative icon; text beside it has its meaning. */
export function Icon({ name, size = 20, stroke = 1.6 }: IconProps) {
  const { assetsPath, fetch } = useUiHost();
  const bundled = bundledIcon(name);
  const [loaded, setLoaded] = useState<{ name: string; shapes: IconShapes } | null>(null);

  useEffect(() => {
    if (bundled !== null) return;
    let current = true;
    fetchIcon(name, assetsPath, fetch).then((shapes) => {
      if (current) setLoaded({ name, shapes });
    });
    return () => {
      current = false;
    };
  }, [name, bundled, assetsPath, fetch]);

  const shapes = bundled ?? (loaded?.name === name ? loaded.shapes : []);
  return (
    <svg
      className={classes('so-icon', size !== 20 && `so-icon--${size}`, DIRECTED.has(name) && 'so-flip')}
      viewBox="0 0 20 20"
      width={size}
      height={size}
      fill="none"
      stroke="currentColor"
      strokeWidth={stroke}
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
      focusable="false"
    >
      {draw(shapes)}
    </svg>
  );
}

function draw(shapes: IconShapes): ReactNode {
  // The shapes of an icon never change, so the index is a valid key.
  return shapes.map((shape, index) =>
    createElement(shape.tag, { key: index, ...camelCased(shape.attributes) }, draw(shape.children)),
  );
}

function camelCased(attributes: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(attributes).map(([name, value]) => [
      name.replace(/-(.)/g, (_all, letter: string) => letter.toUpperCase()),
      value,
    ]),
  );
}

type IconShapes = readonly IconShape[];

/** Icons that pages name are part of the bundle; others are fetched. */
const files = import.meta.glob<string>(
  [
    './icons/{shield-check,key,site,pulse,lifebuoy,folder-lock,eye-off,editor-off,plug,feed,code,file-x}.svg',
    './icons/{link,gate,phone,password,name-tag,timer,moon,plus,trash,calendar,clock,arrow-right,chevron-left}.svg',
    './icons/{check,check-circle,alert,error,info,x,circle,refresh,chevron-right,external,star,minus,rotate}.svg',
    './icons/{user,users,bot,unknown,globe,filter,search,more,download,ban,mail,pencil,sliders}.svg',
    './icons/{logout,plugin}.svg',
  ],
  { query: '?raw', import: 'default', eager: true },
);
/** SVG text by name. */
export const bundledIcons: ReadonlyMap<string, string> = new Map(
  Object.entries(files).map(([path, text]) => [path.slice('./icons/'.length, -'.svg'.length), text]),
);
/** Drawn when an icon cannot be fetched (specification section 7). */
const FALLBACK = 'circle';
const NAME = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;

const parsed = new Map<string, IconShapes>();
const fetched = new Map<string, Promise<IconShapes>>();

/** Returns the shapes of a bundled icon, or null for any other name. */
function bundledIcon(name: string): IconShapes | null {
  const cached = parsed.get(name);
  if (cached !== undefined) return cached;
  const text = bundledIcons.get(name);
  const shapes = text === undefined ? null : parseIcon(text);
  if (shapes !== null) parsed.set(name, shapes);
  return shapes;
}

function fallbackIcon(): IconShapes {
  return bundledIcon(FALLBACK) ?? [];
}

/**
 * Fetches an icon by name from the static files, once. The server may send names, so only plain file names are fetched.
 * A failure returns the plain circle.
 *
 * @param assetsPath folder of the static files, with a slash at the end
 */
function fetchIcon(name: string, assetsPath: string, fetch: typeof globalThis.fetch): Promise<IconShapes> {
  if (assetsPath === '' || !NAME.test(name)) return Promise.resolve(fallbackIcon());
  const url = `${assetsPath}icons/${name}.svg`;
  let icon = fetched.get(url);
  if (icon === undefined) {
    icon = load(url, fetch);
    fetched.set(url, icon);
  }
  return icon;
}

async function load(url: string, fetch: typeof globalThis.fetch): Promise<IconShapes> {
  try {
    const response = await fetch(url);
    if (!response.ok) return fallbackIcon();
    return parseIcon(await response.text()) ?? fallbackIcon();
  } catch {
    return fallbackIcon();
  }
}

/** One drawn element of an icon. */
interface IconShape {
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

/** Allowed attributes and the form of their values. None of them can load or run anything. */
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
 * Parses an icon file into plain shapes. Elements and attributes outside the allowlist are dropped; null if nothing is
 * left to draw.
 */
function parseIcon(text: string): readonly IconShape[] | null {
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
  const allowed = Array.from(element.attributes).filter(
    ({ name, value }) => ATTRIBUTES.get(name)?.test(value) === true,
  );
  return Object.fromEntries(allowed.map(({ name, value }) => [name, value]));
}

export type TileState = 'off' | 'on' | 'warn' | 'danger' | 'info';

export interface IconTileProps {
  readonly name: string;
  readonly state: TileState;
  /** 48 px, in cards. */
  readonly large?: boolean;
}

/** An icon on a tile whose colour shows a state. */
export function IconTile({ name, state, large = false }: IconTileProps) {
  return (
    <span className={classes('so-tile', state !== 'off' && `is-${state}`, large && 'so-tile--48')}>
      <Icon name={name} />
    </span>
  );
}
