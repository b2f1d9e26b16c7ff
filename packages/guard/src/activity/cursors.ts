import { ApiError } from '../lib/api-error.js';
import { setBounded } from '../lib/set-bounded.js';
import type { Counted } from './activity-store.js';

/**
 * Where pages of a list begin and end. A list is anchored at the newest row of its first page: rows that arrive later
 * are not part of it, so its pages do not shift while more of them are loaded.
 */
export interface Place {
  readonly anchor: number;
  /** Rows before this id; null = from the anchor on. */
  readonly before: number | null;
  readonly skip: number;
}

/** A list that somebody is reading. */
interface Reading {
  readonly anchor: number;
  /** Id of the last row of a page, by page. */
  readonly ends: Map<number, number>;
  counted: Counted | null;
  at: number;
}

/** Lists that are remembered, all sites and users together, and page ends of each. */
const READINGS_MAX = 1000;
const ENDS_MAX = 500;
/** A list that nobody went on with for so long begins anew, milliseconds. */
const FORGET_MS = 60 * 60_000;

/** Page and place of our own client's cursor: `<anchor>.<before>.<page>`. */
export function writeCursor(anchor: number, before: number, page: number): string {
  return `${anchor}.${before}.${page}`;
}

/** @throws ApiError invalid_input */
export function readCursor(text: string): { readonly anchor: number; readonly before: number; readonly page: number } {
  const [, anchor, before, page] = /^(\d{1,15})\.(\d{1,15})\.(\d{1,9})$/.exec(text) ?? [];
  if (anchor === undefined) throw new ApiError('invalid_input', { fields: { cursor: 'Use the cursor of an answer.' } });
  return { anchor: Number(anchor), before: Number(before), page: Number(page) };
}

/**
 * Remembers, within bounds, where the pages of lists ended that are being read, for clients that send nothing but
 * `page`. What is forgotten costs no correctness but time: the page is then found by skipping.
 */
export class ListReadings {
  readonly #readings = new Map<string, Reading>();

  /** A list is read from its first page on. */
  begin(key: string, anchor: number, now: number): void {
    this.#readings.delete(key);
    setBounded(this.#readings, key, { anchor, ends: new Map(), counted: null, at: now }, READINGS_MAX);
  }

  /** Where a page begins, or null for a list that is not being read. */
  place(key: string, page: number, pageRows: number, now: number): Place | null {
    const reading = this.#reading(key, now);
    if (reading === null) return null;
    let known = 0;
    for (const end of reading.ends.keys()) if (end < page && end > known) known = end;
    const before = reading.ends.get(known) ?? null;
    return { anchor: reading.anchor, before, skip: (page - 1 - known) * pageRows };
  }

  /** Notes where a page ended. */
  ended(key: string, anchor: number, page: number, last: number, now: number): void {
    const reading = this.#reading(key, now);
    if (reading === null || reading.anchor !== anchor) return;
    setBounded(reading.ends, page, last, ENDS_MAX);
  }

  /** How many rows the list has, when they were counted at this anchor. */
  counted(key: string, anchor: number, now: number): Counted | null {
    const reading = this.#reading(key, now);
    return reading?.anchor === anchor ? reading.counted : null;
  }

  noteCount(key: string, anchor: number, counted: Counted, now: number): void {
    const reading = this.#reading(key, now);
    if (reading?.anchor === anchor) reading.counted = counted;
  }

  #reading(key: string, now: number): Reading | null {
    const reading = this.#readings.get(key);
    if (reading === undefined || Math.abs(now - reading.at) > FORGET_MS) return null;
    reading.at = now;
    this.#readings.delete(key);
    this.#readings.set(key, reading);
    return reading;
  }
}
