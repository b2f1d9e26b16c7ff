import { crc32, deflateSync } from 'node:zlib';
import { PNG } from 'pngjs';

/** Rows of pixels, four bytes each: red, green, blue, opacity. */
export interface Picture {
  readonly width: number;
  readonly height: number;
  readonly data: Buffer;
}

/** Maximum number of colours of a PNG with a palette. */
const PALETTE_SIZE = 256;
/** A colour of a smaller share of the pixels belongs to the edge of a letter or a line. */
const EDGE_SHARE = 0.002;
/** Keyword of the text chunk that holds the mark. */
const MARK = 'Mark';

export function readPicture(png: Buffer): Picture {
  const { width, height, data } = PNG.sync.read(png);
  return { width, height, data };
}

export function crop({ width, height, data }: Picture, x: number, y: number, wide: number, high: number): Picture {
  const right = Math.min(width, x + wide);
  const bottom = Math.min(height, y + high);
  const rows: Buffer[] = [];
  for (let row = y; row < bottom; row++) rows.push(data.subarray((row * width + x) * 4, (row * width + right) * 4));
  return { width: right - x, height: bottom - y, data: Buffer.concat(rows) };
}

/**
 * Writes a small PNG with at most 256 colours. Colours at the edges of letters are rounded by less than the comparison
 * toasts. Opacity is dropped.
 *
 * @param mark identifies the exact picture; see `readMark`
 */
export function writePicture({ width, height, data }: Picture, mark = ''): Buffer {
  const pixels = new Uint32Array(data.length / 4);
  const exact = new Map<number, number>();
  for (let at = 0; at < pixels.length; at++) {
    const colour = ((data[at * 4] ?? 0) << 16) | ((data[at * 4 + 1] ?? 0) << 8) | (data[at * 4 + 2] ?? 0);
    pixels[at] = colour;
    exact.set(colour, (exact.get(colour) ?? 0) + 1);
  }
  const counts = new Map<number, number>();
  const kept = new Map<number, number>();
  for (const [colour, count] of exact) {
    const simple = count > pixels.length * EDGE_SHARE ? colour : rounded(colour);
    kept.set(colour, simple);
    counts.set(simple, (counts.get(simple) ?? 0) + count);
  }
  const palette = [...counts]
    .sort(([a, many], [b, few]) => few - many || a - b)
    .slice(0, PALETTE_SIZE)
    .map(([colour]) => colour);
  const indices = new Map(palette.map((colour, index) => [colour, index]));
  for (const colour of counts.keys()) if (!indices.has(colour)) indices.set(colour, nearest(colour, palette));
  const byColour = new Map([...kept].map(([colour, simple]) => [colour, indices.get(simple) ?? 0]));

  const rows = Buffer.alloc((width + 1) * height);
  for (let row = 0; row < height; row++) {
    for (let column = 0; column < width; column++) {
      rows[row * (width + 1) + 1 + column] = byColour.get(pixels[row * width + column] ?? 0) ?? 0;
    }
  }
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  // Eight bits for each pixel, a palette, and the only methods that there are.
  head.set([8, 3, 0, 0, 0], 8);
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', head),
    chunk('tEXt', Buffer.from(`${MARK}\0${mark}`, 'latin1')),
    chunk('PLTE', Buffer.from(palette.flatMap((colour) => [colour >> 16, (colour >> 8) & 255, colour & 255]))),
    chunk('IDAT', deflateSync(rows, { level: 9, memLevel: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** Reads the mark of a picture; '' if it has none. */
export function readMark(png: Buffer): string {
  for (let at = 8; at + 12 <= png.length; at += 12 + png.readUInt32BE(at)) {
    if (png.toString('latin1', at + 4, at + 8) !== 'tEXt') continue;
    const [name, text = ''] = png.toString('latin1', at + 8, at + 8 + png.readUInt32BE(at)).split('\0');
    if (name === MARK) return text;
  }
  return '';
}

/** Rounds each part of the colour to a multiple of 32; white stays white. */
function rounded(colour: number): number {
  return [16, 8, 0].reduce((sum, shift) => sum | (Math.min(255, (((colour >> shift) & 255) + 16) & ~31) << shift), 0);
}

function nearest(colour: number, palette: readonly number[]): number {
  let best = 0;
  let minDistance = Number.POSITIVE_INFINITY;
  palette.forEach((other, index) => {
    const distance = [16, 8, 0].reduce(
      (sum, shift) => sum + (((colour >> shift) & 255) - ((other >> shift) & 255)) ** 2,
      0,
    );
    if (distance < minDistance) [minDistance, best] = [distance, index];
  });
  return best;
}

/** A part of a PNG file: length, name, content, and a sum over name and content (PNG specification, section 5.3). */
function chunk(name: string, content: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(name, 'latin1'), content]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(content.length, 0);
  frame.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
}
