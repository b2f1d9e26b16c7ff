import type { Attack, Group, Outcome } from './attack.js';
import { attacks } from './lists/index.js';
import type { AttackedSite } from './site.js';

export interface AttackResult {
  readonly group: Group;
  readonly attack: string;
  readonly expected: string;
  readonly got: string;
  readonly twin: string;
  /** Null where the attack means nothing at this site; `got` says why. */
  readonly ok: boolean | null;
}

/**
 * Runs attacks one after the other, each followed by its legitimate twin.
 *
 * @param groups the ones to run; all when left out
 * @param onResult called as each is over
 */
export async function runAttacks(
  site: AttackedSite,
  { groups, onResult = () => {} }: { groups?: readonly Group[]; onResult?: (result: AttackResult) => void } = {},
): Promise<AttackResult[]> {
  const results: AttackResult[] = [];
  // The same twin stands beside many attacks, and nothing but the attack changes between two of them.
  const twins = new Map<string, Outcome>();
  let gone: string | null = null;
  for (const attack of attacks) {
    if (groups !== undefined && !groups.includes(attack.group)) continue;
    const result: AttackResult = gone === null ? await runAttack(site, attack, twins) : notRun(attack, gone);
    if (result.ok === false && !(await site.answers())) gone = `the site answers no more since: ${attack.name}`;
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
  // One that the attack may have spoilt is asked again each time.
  if (group === 'spellings') twins.set(attack.twin.name, twin);
  const told = `${attack.twin.name}: ${twin.got}`;
  return { group, attack: name, expected, got: outcome.got, twin: told, ok: outcome.ok && twin.ok };
}
