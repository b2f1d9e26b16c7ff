import type { Fetch } from '../api/send.js';
import { bundledIcons } from './bundled-icons.js';
import { type IconShape, parseIcon } from './parse-icon.js';

export type IconShapes = readonly IconShape[];

/** Shown when an icon has no file (specification section 7). */
const FALLBACK = 'circle';
const NAME = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;

const known = new Map<string, IconShapes>();
const fetched = new Map<string, Promise<IconShapes>>();

/** Shapes of a bundled icon, or null when the icon has to be fetched. */
export function bundledIcon(name: string): IconShapes | null {
  const cached = known.get(name);
  if (cached !== undefined) return cached;
  const text = bundledIcons.get(name);
  const shapes = text === undefined ? null : parseIcon(text);
  if (shapes !== null) known.set(name, shapes);
  return shapes;
}

/** The plain circle. */
function fallbackIcon(): IconShapes {
  return bundledIcon(FALLBACK) ?? [];
}

/**
 * Fetches an icon by name from the static files, once. Names may come from the server: one that is not a plain
 * file name is not asked for. Any failure gives the plain circle.
 *
 * @param assetsPath folder of the static files, with a slash at the end
 */
export function fetchIcon(name: string, assetsPath: string, fetch: Fetch): Promise<IconShapes> {
  if (assetsPath === '' || !NAME.test(name)) return Promise.resolve(fallbackIcon());
  const url = `${assetsPath}icons/${name}.svg`;
  let icon = fetched.get(url);
  if (icon === undefined) {
    icon = load(url, fetch);
    fetched.set(url, icon);
  }
  return icon;
}

async function load(url: string, fetch: Fetch): Promise<IconShapes> {
  try {
    const response = await fetch(url);
    if (!response.ok) return fallbackIcon();
    return parseIcon(await response.text()) ?? fallbackIcon();
  } catch {
    return fallbackIcon();
  }
}
