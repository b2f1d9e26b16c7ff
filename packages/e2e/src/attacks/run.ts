import type { Attack, Group, Outcome } from './attack.js';
import { attacks } from './lists/index.js';
import type { AttackedSite } from './site.js';

export interface AttackResult {
  readonly group: Group;
  readonly attack: string;
  readonly expected: string;
  readonly got: string;
  readonly twin: string;
  /** Null when the attack does not apply to this site, or a limit hid the response; `got` says why. */
  readonly ok: boolean | null;
}

/**
 * Runs attacks one after the other, each followed by its legitimate twin.
 *
 * @param list the attacks; all when left out
 * @param groups the ones to run; all when left out
 * @param onResult called as each is over
 */
export async function runAttacks(
  site: AttackedSite,
  {
    list = attacks,
    groups,
    onResult = () => {},
  }: { list?: readonly Attack[]; groups?: readonly Group[]; onResult?: (result: AttackResult) => void } = {},
): Promise<AttackResult[]> {
  const results: AttackResult[] = [];
  // Many attacks share a twin, and between two of them nothing but the attack changes.
  const twins = new Map<string, Outcome>();
  let failure: string | null = null;
  for (const attack of list) {
    if (groups !== undefined && !groups.includes(attack.group)) continue;
    const result: AttackResult = failure === null ? await runAttack(site, attack, twins) : notRun(attack, failure);
    if (result.ok === false && !(await site.isAvailable())) failure = `the site answers no more since: ${attack.name}`;
    results.push(result);
    onResult(result);
  }
  return results;
}

function notRun({ group, name, expected }: Attack, why: string): AttackResult {
  return { group, attack: name, expected, got: why, twin: '-', ok: null };
}

async function runAttack(site: AttackedSite, attack: Attack, twins: Map<string, Outcome>): Promise<AttackResult> {
  const { group, name, expected } = attack;
  const lacking = site.lacks(attack.needs);
  if (lacking !== null) return notRun(attack, lacking);
  const outcome = await attack.run(site);
  const twin = twins.get(attack.twin.name) ?? (await attack.twin.run(site));
  // A twin that the attack may have affected runs again each time.
  if (group === 'spellings') twins.set(attack.twin.name, twin);
  const twinText = `${attack.twin.name}: ${twin.got}`;
  return { group, attack: name, expected, got: outcome.got, twin: twinText, ok: judge(outcome, twin) };
}

/** One failure is enough to fail. A result that was not judged does not count as held. */
function judge(outcome: Outcome, twin: Outcome): boolean | null {
  if (outcome.ok === false || twin.ok === false) return false;
  return outcome.ok === null || twin.ok === null ? null : true;
}

/** Counts of a run. */
export interface Summary {
  readonly passed: number;
  readonly failed: number;
  readonly notRun: number;
}

export function summarise(results: readonly AttackResult[]): Summary {
  const count = (ok: boolean | null) => results.filter((result) => result.ok === ok).length;
  return { passed: count(true), failed: count(false), notRun: count(null) };
}

/** A readable table, group by group. Attacks that did not run are counted by reason at the end, unless `all` is set. */
export function attackTable(results: readonly AttackResult[], all: boolean): string {
  const shown = all ? results : results.filter(({ ok }) => ok !== null);
  const columns = ['attack', 'expected', 'got', 'twin'] as const;
  const cells = shown.map((result) => columns.map((column) => cut(result[column])));
  const widths = columns.map((column, at) => Math.max(column.length, ...cells.map((row) => row[at]?.length ?? 0)));
  const line = (row: readonly string[], ok: string) =>
    `${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join('  ')}  ${ok}\n`;
  let text = line(columns, 'ok');
  for (const [at, { group, ok }] of shown.entries()) {
    if (group !== shown[at - 1]?.group) text += `\n${group}\n`;
    text += line(cells[at] ?? [], ok === null ? '-' : ok ? 'yes' : 'NO');
  }
  const { passed, failed, notRun } = summarise(results);
  const reasons = new Map<string, number>();
  for (const { ok, got } of results) if (ok === null) reasons.set(got, (reasons.get(got) ?? 0) + 1);
  text += `\n${passed} held, ${failed} failed, ${notRun} not run\n`;
  for (const [reason, count] of reasons) text += `  ${count} not run: ${reason}\n`;
  return text;
}

const cut = (text: string): string =>
  (text.length > 72 ? `${text.slice(0, 71)}…` : text).replace(/[^\x20-\uffff]/g, '?');
