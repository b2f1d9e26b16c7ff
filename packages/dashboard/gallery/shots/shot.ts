import { createHash } from 'node:crypto';
import { type Picture, readPicture } from './picture.js';

/** A picture that was just taken. */
export interface Shot {
  /** The same for the same picture by the same browser: then nothing needs to be compared. */
  readonly mark: string;
  readonly picture: () => Picture;
}

/** Of a whole picture, as the browser wrote it. */
export function shotOf(png: Buffer): Shot {
  return { mark: hash(png), picture: () => readPicture(png) };
}

/** Of a part that was cut out. */
export function shotOfPart(picture: Picture): Shot {
  return { mark: hash(picture.data), picture: () => picture };
}

function hash(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('base64url').slice(0, 22);
}
