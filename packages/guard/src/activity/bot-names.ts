import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

/** One entry of the list that the package crawler-user-agents keeps: a regular expression and agents it fits. */
interface Entry {
  readonly pattern: string;
  readonly instances: readonly string[];
}

/** Finds the name of a bot in an agent, or null when the list does not know it. */
export type BotNames = (agent: string) => string | null;

/** Longest name that is shown. */
const NAME_CHARACTERS = 40;
/** Length of the pieces by which an agent is looked up. */
const PIECE = 3;

let names: BotNames | null = null;

/**
 * The name of a bot by the list of crawler-user-agents (MIT). The name is a word of the list, never of the agent: there
 * are as many as there are entries, whatever strangers send.
 * @param agent at most some hundred characters
 */
export function botName(agent: string): string | null {
  names ??= botNames(knownBots());
  return names(agent);
}

/** The list is read as a file, so that half a megabyte of examples does not stay in memory. */
function knownBots(): readonly Entry[] {
  const list = JSON.parse(readFileSync(createRequire(import.meta.url).resolve('crawler-user-agents'), 'utf8'));
  return [...list, ...OUR_OWN];
}

/** What the list does not have: a WordPress that hides its version, such as this one when it calls its own wp-cron.php. */
const OUR_OWN: readonly Entry[] = [{ pattern: 'WordPress; http', instances: [] }];

/**
 * Prepares a list. Of several entries that fit, the first of the list counts. Almost all entries are plain text: they
 * are looked up by their first letters, which takes one pass over the agent instead of a thousand.
 */
export function botNames(list: readonly Entry[]): BotNames {
  const plain = new Map<string, { readonly text: string; readonly at: number }[]>();
  const others: { readonly pattern: RegExp; readonly at: number }[] = [];
  const shown = list.map(nameOf);
  for (const [at, { pattern }] of list.entries()) {
    const text = plainText(pattern);
    if (text === null || text.length < PIECE) {
      others.push({ pattern: new RegExp(pattern), at });
      continue;
    }
    const piece = text.slice(0, PIECE);
    const same = plain.get(piece);
    if (same === undefined) plain.set(piece, [{ text, at }]);
    else same.push({ text, at });
  }
  return (agent) => {
    let first = list.length;
    for (let i = 0; i + PIECE <= agent.length; i++) {
      for (const { text, at } of plain.get(agent.slice(i, i + PIECE)) ?? NONE) {
        if (at < first && agent.startsWith(text, i)) first = at;
      }
    }
    for (const { pattern, at } of others) {
      if (at >= first) break;
      if (pattern.test(agent)) first = at;
    }
    return shown[first] ?? null;
  };
}

const NONE: readonly never[] = [];

/** The text that a pattern stands for, or null when it is more than a text. */
function plainText(pattern: string): string | null {
  const unescaped = pattern.replace(/\\[^a-zA-Z0-9]/g, '');
  return /[\\^$.*+?()[\]{}|]/.test(unescaped) ? null : pattern.replaceAll('\\', '');
}

/** `[wW]get` is Wget; of a pattern with choices, what it finds in its first example. */
function nameOf({ pattern, instances }: Entry): string {
  const oneCase = pattern.replace(/\[([a-zA-Z])([a-zA-Z])\]/g, (choice, one: string, other: string) =>
    one.toLowerCase() === other.toLowerCase() ? one.toUpperCase() : choice,
  );
  const text = plainText(oneCase.replace(/^\^|\$$/g, '')) ?? new RegExp(pattern).exec(instances[0] ?? '')?.[0] ?? '';
  const name = text.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}!.]+$/gu, '').slice(0, NAME_CHARACTERS);
  return name === '' ? 'Other bot' : (BETTER_NAMES.get(name) ?? name);
}

/** Where the pattern is not the name. */
const BETTER_NAMES: ReadonlyMap<string, string> = new Map([
  ['yandex.com/bots', 'YandexBot'],
  ['pinterest.com/bot', 'Pinterestbot'],
  ['ia_archiver', 'Internet Archive'],
  ['archive.org_bot', 'Internet Archive'],
  ['WordPress; http', 'WordPress'],
]);
