import { visitorType } from '../../../activity/visitor-type.js';
import { setBounded } from '../../../lib/set-bounded.js';
import type { Prepare } from '../../sqlite-worker/prepared-statements.js';

/** Agents whose type is remembered; a busy site sees some thousand different ones a day. */
const AGENTS_KEPT = 20_000;

/** Names what a visit is: its visitor's type, its status and the rule that refused it, as one small number. */
export class KindBook {
  readonly #prepare: Prepare;
  readonly #types = new Map<string, string>();
  readonly #ids = new Map<string, number>();

  constructor(prepare: Prepare) {
    this.#prepare = prepare;
  }

  typeOf(agent: string | null, verifiedBot: string | null): string {
    const key = `${verifiedBot ?? ''}\n${agent ?? ''}`;
    const known = this.#types.get(key);
    if (known !== undefined) return known;
    const type = visitorType(agent, verifiedBot);
    setBounded(this.#types, key, type, AGENTS_KEPT);
    return type;
  }

  /** Number of a kind, given out when it is new. */
  idOf(type: string, status: number, rule: string | null): number {
    const key = `${status}\n${rule ?? ''}\n${type}`;
    const known = this.#ids.get(key);
    if (known !== undefined) return known;
    const values = [type, status, rule ?? ''];
    this.#prepare('insert into visit_kinds (type, status, rule) values (?, ?, ?) on conflict do nothing').run(
      ...values,
    );
    const { id } = this.#prepare('select id from visit_kinds where type = ? and status = ? and rule = ?').get(
      ...values,
    ) as { id: number };
    this.#ids.set(key, id);
    return id;
  }

  /** Drops what may not be in the database after all. */
  forget(): void {
    this.#ids.clear();
  }
}
