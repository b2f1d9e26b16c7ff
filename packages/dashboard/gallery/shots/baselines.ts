import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import pixelmatch from 'pixelmatch';
import { PNG } from 'pngjs';
import { type Picture, readMark, readPicture, writePicture } from './png.js';

const pictures = fileURLToPath(new URL('./pictures/', import.meta.url));
/** Folder of the differences of the last run. */
export const differences = fileURLToPath(new URL('../../../../.cache/gallery-differences/', import.meta.url));

/** Allowed difference of a colour, 0 to 1: browser releases draw letters slightly differently. */
const COLOUR_TOLERANCE = 0.12;
/** Allowed number of pixels that differ more, and allowed share of all pixels; the larger limit counts. */
const MAX_PIXELS = 12;
const MAX_SHARE = 0.0003;

/** Names of all baseline pictures. */
export function baselineNames(): readonly string[] {
  if (!existsSync(pictures)) return [];
  return readdirSync(pictures).map((file) => file.slice(0, -'.png'.length));
}

/** Describes the difference between a screenshot and its baseline; null if there is none. */
export function compareToBaseline(name: string, shot: Screenshot): string | null {
  const file = `${pictures}${name}.png`;
  if (!existsSync(file)) return 'It has no baseline yet.';
  const bytes = readFileSync(file);
  if (readMark(bytes) === shot.mark) return null;
  const picture = shot.picture();
  const baseline = readPicture(bytes);
  if (baseline.width !== picture.width || baseline.height !== picture.height) {
    writeDifference(name, picture, null);
    return `It is ${picture.width} × ${picture.height} pixels now, and was ${baseline.width} × ${baseline.height}.`;
  }
  const drawn = new PNG({ width: baseline.width, height: baseline.height });
  const { width, height } = baseline;
  const different = pixelmatch(baseline.data, picture.data, drawn.data, width, height, { threshold: COLOUR_TOLERANCE });
  if (different <= Math.max(MAX_PIXELS, width * height * MAX_SHARE)) return null;
  writeDifference(name, picture, drawn);
  return `${different} of ${width * height} pixels are different.`;
}

export function saveBaseline(name: string, { mark, picture }: Screenshot): void {
  mkdirSync(pictures, { recursive: true });
  writeFileSync(`${pictures}${name}.png`, writePicture(picture(), mark));
}

export function deleteBaseline(name: string): void {
  rmSync(`${pictures}${name}.png`, { force: true });
}

function writeDifference(name: string, picture: Picture, difference: PNG | null): void {
  mkdirSync(differences, { recursive: true });
  writeFileSync(`${differences}${name}.now.png`, writePicture(picture));
  if (difference !== null) writeFileSync(`${differences}${name}.difference.png`, PNG.sync.write(difference));
}

export interface Screenshot {
  /** Hash of the pixels or of the file. Pictures with the same mark are equal and need no comparison. */
  readonly mark: string;
  readonly picture: () => Picture;
}

export function toScreenshot(png: Buffer): Screenshot {
  return { mark: hash(png), picture: () => readPicture(png) };
}

export function toPartialScreenshot(picture: Picture): Screenshot {
  return { mark: hash(picture.data), picture: () => picture };
}

function hash(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('base64url').slice(0, 22);
}
