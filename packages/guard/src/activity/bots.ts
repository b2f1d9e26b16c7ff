import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';

/** A search engine, and how DNS verifies its crawlers. */
export interface SearchEngine {
  readonly name: string;
  /**
   * Domains of its crawlers' host names. Empty if it publishes none: then no client can be verified.
   */
  readonly domains: readonly string[];
}

/**
 * User agents of search engines, and the domains that verify them. From the engines' own pages on verifying crawlers:
 * Google "Verifying Googlebot", Microsoft "How to verify Bingbot", Yandex "How to check that a robot belongs to
 * Yandex", Baidu, Apple "About Applebot", Seznam, Yahoo, Sogou, Mail.ru, Naver, Qwant, Petal, Cốc Cốc. DuckDuckGo
 * publishes addresses only. `googleusercontent.com` is omitted: every customer of Google's cloud has a name there.
 */
const engines: readonly (SearchEngine & { readonly agent: RegExp })[] = [
  {
    name: 'Google',
    agent:
      /googlebot|adsbot-google|mediapartners-google|apis-google|google-inspectiontool|storebot-google|googleother|google-safety/i,
    domains: ['googlebot.com', 'google.com'],
  },
  { name: 'Bing', agent: /bingbot|msnbot|adidxbot|bingpreview/i, domains: ['search.msn.com'] },
  {
    name: 'Yandex',
    agent: /yandex\.com\/bots|yandex(?:bot|images|video|media|news|mobilebot)/i,
    domains: ['yandex.ru', 'yandex.net', 'yandex.com'],
  },
  { name: 'Baidu', agent: /baiduspider/i, domains: ['baidu.com', 'baidu.jp'] },
  { name: 'Apple', agent: /applebot/i, domains: ['applebot.apple.com'] },
  { name: 'Seznam', agent: /seznambot/i, domains: ['seznam.cz'] },
  { name: 'Yahoo', agent: /yahoo! slurp|^slurp$/i, domains: ['crawl.yahoo.net'] },
  { name: 'DuckDuckGo', agent: /duckduckbot/i, domains: [] },
  { name: 'Sogou', agent: /sogou (?:web |inst |pic )?spider|^sogou$/i, domains: ['crawl.sogou.com'] },
  { name: 'Mail.ru', agent: /mail\.ru_bot/i, domains: ['go.mail.ru'] },
  { name: 'Naver', agent: /\byeti\/\d|^yeti$/i, domains: ['naver.com'] },
  { name: 'Qwant', agent: /qwantbot|qwantify/i, domains: ['qwant.com'] },
  { name: 'Petal', agent: /petalbot/i, domains: ['petalsearch.com'] },
  { name: 'Cốc Cốc', agent: /coccocbot/i, domains: ['coccoc.com'] },
];

/** A fast pre-check of the list. Almost no browser matches. */
const LIKELY = /bot|spider|slurp|google|yandex|preview|yeti|qwant|^sogou$/i;

/** Returns the search engine that an agent claims to be, or null. */
export function claimedSearchEngine(agent: string | null): SearchEngine | null {
  if (agent === null || !LIKELY.test(agent)) return null;
  return engines.find((engine) => engine.agent.test(agent)) ?? null;
}

/**
 * Reports whether a host name is in a domain of the engine. This is no proof: the name must also resolve to the
 * address.
 * @param hostname lower-case, without a trailing dot
 */
export function belongsTo(engine: SearchEngine, hostname: string): boolean {
  return engine.domains.some((domain) => hostname === domain || hostname.endsWith(`.${domain}`));
}

/** One entry of the package crawler-user-agents: a regular expression and examples of agents that it matches. */
interface Entry {
  readonly pattern: string;
  readonly instances: readonly string[];
}

/** Returns the name of the bot of an agent, or null if the list has none. */
export type BotNames = (agent: string) => string | null;

/** Maximum length of a name. */
const NAME_CHARACTERS = 40;
/** Length of the substrings by which an agent is looked up. */
const PREFIX_LENGTH = 3;

let names: BotNames | null = null;

/**
 * Returns the name of a bot by the list of crawler-user-agents (MIT). The name is taken from the list, never from the
 * agent: there can be no more names than entries, whatever clients send.
 * @param agent at most a few hundred characters
 */
export function botName(agent: string): string | null {
  names ??= botNames(knownBots());
  return names(agent);
}

/** Reads the list as a file, so that half a megabyte of examples does not stay in memory. */
function knownBots(): readonly Entry[] {
  const list = JSON.parse(readFileSync(createRequire(import.meta.url).resolve('crawler-user-agents'), 'utf8'));
  return [...list, ...ADDED_ENTRIES];
}

/**
 * An entry that the list lacks: a WordPress that hides its version, such as the site's own when it requests
 * wp-cron.php.
 */
const ADDED_ENTRIES: readonly Entry[] = [{ pattern: 'WordPress; http', instances: [] }];

/**
 * Compiles a list. Of several matching entries the first wins. Almost all entries are plain text: they are looked up by
 * their first letters, which takes one pass over the agent instead of a thousand.
 */
export function botNames(list: readonly Entry[]): BotNames {
  const plain = new Map<string, { readonly text: string; readonly at: number }[]>();
  const others: { readonly pattern: RegExp; readonly at: number }[] = [];
  const shown = list.map(toName);
  for (const [at, { pattern }] of list.entries()) {
    const text = plainText(pattern);
    if (text === null || text.length < PREFIX_LENGTH) {
      others.push({ pattern: new RegExp(pattern), at });
      continue;
    }
    const prefix = text.slice(0, PREFIX_LENGTH);
    const same = plain.get(prefix);
    if (same === undefined) plain.set(prefix, [{ text, at }]);
    else same.push({ text, at });
  }
  return (agent) => {
    let first = list.length;
    for (let i = 0; i + PREFIX_LENGTH <= agent.length; i++) {
      for (const { text, at } of plain.get(agent.slice(i, i + PREFIX_LENGTH)) ?? NONE) {
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

/** Returns the text that a pattern matches, or null if it matches more than one text. */
function plainText(pattern: string): string | null {
  const unescaped = pattern.replace(/\\[^a-zA-Z0-9]/g, '');
  return /[\\^$.*+?()[\]{}|]/.test(unescaped) ? null : pattern.replaceAll('\\', '');
}

/** Converts a pattern to a name: `[wW]get` to Wget, a pattern with alternatives to its match in the first example. */
function toName({ pattern, instances }: Entry): string {
  const oneCase = pattern.replace(/\[([a-zA-Z])([a-zA-Z])\]/g, (choice, one: string, other: string) =>
    one.toLowerCase() === other.toLowerCase() ? one.toUpperCase() : choice,
  );
  const text = plainText(oneCase.replace(/^\^|\$$/g, '')) ?? new RegExp(pattern).exec(instances[0] ?? '')?.[0] ?? '';
  const name = text.replace(/^[^\p{L}\p{N}]+|[^\p{L}\p{N}!.]+$/gu, '').slice(0, NAME_CHARACTERS);
  return name === '' ? 'Other bot' : (NAME_OVERRIDES.get(name) ?? name);
}

/** Names of entries whose pattern is not the name. */
const NAME_OVERRIDES: ReadonlyMap<string, string> = new Map([
  ['yandex.com/bots', 'YandexBot'],
  ['pinterest.com/bot', 'Pinterestbot'],
  ['ia_archiver', 'Internet Archive'],
  ['archive.org_bot', 'Internet Archive'],
  ['WordPress; http', 'WordPress'],
]);
