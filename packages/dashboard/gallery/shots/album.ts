import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import pixelmatch from 'pixelmatch';
import { PNG } from 'pngjs';
import { markOf, type Picture, readPicture, writePicture } from './picture.js';
import type { Shot } from './shot.js';

const pictures = fileURLToPath(new URL('./pictures/', import.meta.url));
/** Where the differences of the last run lie. */
export const differences = fileURLToPath(new URL('../../../../.cache/gallery-differences/', import.meta.url));

/** How much a colour may differ, 0 to 1: letters are drawn a little differently by other releases of a browser. */
const COLOUR_TOLERANCE = 0.12;
/** Pixels that may differ beyond it: so many, or this part of all. */
const PIXELS = 12;
const PART = 0.0003;

/** Names of all pictures that are kept. */
export function keptNames(): readonly string[] {
  if (!existsSync(pictures)) return [];
  return readdirSync(pictures).map((file) => file.slice(0, -'.png'.length));
}

/** How a picture differs from the one that is kept, in words; null when it does not. */
export function differenceOf(name: string, shot: Shot): string | null {
  const file = `${pictures}${name}.png`;
  if (!existsSync(file)) return 'There is no picture of it yet.';
  const bytes = readFileSync(file);
  if (markOf(bytes) === shot.mark) return null;
  const picture = shot.picture();
  const kept = readPicture(bytes);
  if (kept.width !== picture.width || kept.height !== picture.height) {
    note(name, picture, null);
    return `It is ${picture.width} × ${picture.height} pixels now, and was ${kept.width} × ${kept.height}.`;
  }
  const drawn = new PNG({ width: kept.width, height: kept.height });
  const { width, height } = kept;
  const different = pixelmatch(kept.data, picture.data, drawn.data, width, height, { threshold: COLOUR_TOLERANCE });
  if (different <= Math.max(PIXELS, width * height * PART)) return null;
  note(name, picture, drawn);
  return `${different} of ${width * height} pixels are different.`;
}

/** Keeps a picture in place of the one before. */
export function keep(name: string, { mark, picture }: Shot): void {
  mkdirSync(pictures, { recursive: true });
  writeFileSync(`${pictures}${name}.png`, writePicture(picture(), mark));
}

export function forget(name: string): void {
  rmSync(`${pictures}${name}.png`, { force: true });
}

function note(name: string, picture: Picture, difference: PNG | null): void {
  mkdirSync(differences, { recursive: true });
  writeFileSync(`${differences}${name}.now.png`, writePicture(picture));
  if (difference !== null) writeFileSync(`${differences}${name}.difference.png`, PNG.sync.write(difference));
}
