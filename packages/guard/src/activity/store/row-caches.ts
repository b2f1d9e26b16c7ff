import type { AttackGoal } from '@security-optimizer/contract/activity/attackers';
import { setBounded } from '../../lib/collections.js';
import type { Prepare } from '../../storage/sqlite.js';
import { visitorType } from '../visitor-type.js';
import { toSecond } from './row-keys.js';

/** Number of visits whose rows are kept: some seconds of a flood. */
const ROWS_REMEMBERED = 32_768;

/** Where a visit was written. */
export interface BufferedRow {
  readonly id: number;
  readonly kind: number;
}

/** The properties that make up the kind of a visit. */
export interface VisitKind {
  readonly type: string;
  readonly status: number;
  readonly rule: string | null;
  readonly goal: AttackGoal | null;
  readonly failed: boolean;
}

/** Finds the rows of the last visits by their numbers, so that a repeat adds to the row instead of creating another. */
export class RowBuffer {
  readonly #numbers = new Uint32Array(ROWS_REMEMBERED);
  readonly #sites = new Uint32Array(ROWS_REMEMBERED);
  readonly #ids = new Float64Array(ROWS_REMEMBERED);
  readonly #kinds = new Uint32Array(ROWS_REMEMBERED);

  /** @param number of the visit; 0 is not stored */
  put(number: number, site: number, { id, kind }: BufferedRow): void {
    const slot = number % ROWS_REMEMBERED;
    this.#numbers[slot] = number;
    this.#sites[slot] = site;
    this.#ids[slot] = id;
    this.#kinds[slot] = kind;
  }

  /** Returns the row of a visit if it belongs to this second; the same visit in another second is another row. */
  find(number: number, site: number, second: number): BufferedRow | null {
    const slot = number % ROWS_REMEMBERED;
    if (number === 0 || this.#numbers[slot] !== number || this.#sites[slot] !== site) return null;
    const id = this.#ids[slot] as number;
    return toSecond(id) === second ? { id, kind: this.#kinds[slot] as number } : null;
  }

  /** Called when the rows were not written. */
  clear(): void {
    this.#numbers.fill(0);
  }
}

/** Agents whose type is cached; a busy site has some thousand different ones a day. */
const AGENTS_MAX = 20_000;

/** Assigns a small number to each kind of visit. */
export class VisitKinds {
  readonly #prepare: Prepare;
  readonly #types = new Map<string, string>();
  readonly #ids = new Map<string, number>();
  readonly #goals = new Map<number, AttackGoal | null>();

  constructor(prepare: Prepare) {
    this.#prepare = prepare;
  }

  toType(agent: string | null, verifiedBot: string | null): string {
    const key = `${verifiedBot ?? ''}\n${agent ?? ''}`;
    const known = this.#types.get(key);
    if (known !== undefined) return known;
    const type = visitorType(agent, verifiedBot);
    setBounded(this.#types, key, type, AGENTS_MAX);
    return type;
  }

  /** Returns the number of a kind, a new one if needed. */
  toId({ type, status, rule, goal, failed }: VisitKind): number {
    const key = `${status}\n${rule ?? ''}\n${goal ?? ''}\n${failed}\n${type}`;
    const known = this.#ids.get(key);
    if (known !== undefined) return known;
    const values = [type, status, rule ?? '', goal ?? '', failed ? 1 : 0];
    this.#prepare(
      'insert into visit_kinds (type, status, rule, goal, failed) values (?, ?, ?, ?, ?) on conflict do nothing',
    ).run(...values);
    const { id } = this.#prepare(
      'select id from visit_kinds where type = ? and status = ? and rule = ? and goal = ? and failed = ?',
    ).get(...values) as { id: number };
    this.#ids.set(key, id);
    this.#goals.set(id, goal);
    return id;
  }

  /** Returns the goal of a kind that was used since `clear`. */
  getGoal(id: number): AttackGoal | null {
    return this.#goals.get(id) ?? null;
  }

  /** Clears the cache, after a transaction that was not committed. */
  clear(): void {
    this.#ids.clear();
  }
}

/** Texts that are cached: agents, referers and origins. */
const TEXTS_MAX = 10_000;
/** The use of a text is recorded once in this time, seconds. */
const SEEN_EVERY = 86_400;

/** Assigns ids to texts of visits, one per text and site. */
export class VisitTexts {
  readonly #prepare: Prepare;
  readonly #known = new Map<string, { readonly id: number; seen: number }>();

  constructor(prepare: Prepare) {
    this.#prepare = prepare;
  }

  /**
   * @param at Unix seconds of the visit
   * @returns 0 for an empty text
   */
  toId(site: number, text: string, at: number): number {
    if (text === '') return 0;
    const key = `${site} ${text}`;
    const known = this.#known.get(key);
    if (known !== undefined && at - known.seen < SEEN_EVERY) return known.id;
    const { id } = this.#prepare(
      `insert into visit_texts (site, text, seen) values (?, ?, ?)
       on conflict (site, text) do update set seen = max(seen, excluded.seen) returning id`,
    ).get(site, text, at) as { id: number };
    setBounded(this.#known, key, { id, seen: at }, TEXTS_MAX);
    return id;
  }

  /** Clears the cache: its texts may not be in the database, or not any more. */
  clear(): void {
    this.#known.clear();
  }
}
