import { secondOf } from '../row-id.js';

/** So many visits are remembered: some seconds of a flood. */
const PLACES = 32_768;

/** Where a visit was written. */
export interface KnownRow {
  readonly id: number;
  readonly kind: number;
}

/** Knows the rows of the last visits by their numbers, so that a repeat adds to the row instead of making another. */
export class RowBook {
  readonly #numbers = new Uint32Array(PLACES);
  readonly #sites = new Uint32Array(PLACES);
  readonly #ids = new Float64Array(PLACES);
  readonly #kinds = new Uint32Array(PLACES);

  /** @param number of the visit; 0 is not remembered */
  put(number: number, site: number, { id, kind }: KnownRow): void {
    const place = number % PLACES;
    this.#numbers[place] = number;
    this.#sites[place] = site;
    this.#ids[place] = id;
    this.#kinds[place] = kind;
  }

  /** The row of a visit if it is one of this second; the same visit in another second is another row. */
  find(number: number, site: number, second: number): KnownRow | null {
    const place = number % PLACES;
    if (number === 0 || this.#numbers[place] !== number || this.#sites[place] !== site) return null;
    const id = this.#ids[place] as number;
    return secondOf(id) === second ? { id, kind: this.#kinds[place] as number } : null;
  }

  /** The rows were not written after all. */
  forget(): void {
    this.#numbers.fill(0);
  }
}
