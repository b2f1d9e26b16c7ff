/** A search engine that publishes how to tell its crawlers by DNS. */
export interface SearchEngine {
  readonly name: string;
  /**
   * Domains in which the host names of its crawlers end. Empty when it publishes none: then nobody can prove to be it.
   */
  readonly domains: readonly string[];
}

/**
 * How agents claim to be a search engine, and what proves it. From the engines' own pages on verifying their crawlers:
 * Google "Verifying Googlebot", Microsoft "How to verify Bingbot", Yandex "How to check that a robot belongs to
 * Yandex", Baidu, Apple "About Applebot", Seznam, Yahoo, Sogou, Mail.ru, Naver, Qwant, Petal, Cốc Cốc. DuckDuckGo
 * publishes addresses only. `googleusercontent.com` is left out: every customer of Google's cloud has a name there.
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

/** Spares nearly every browser the list. */
const LIKELY = /bot|spider|slurp|google|yandex|preview|yeti|qwant|^sogou$/i;

/** The search engine that an agent claims to be, or null. */
export function claimedSearchEngine(agent: string | null): SearchEngine | null {
  if (agent === null || !LIKELY.test(agent)) return null;
  return engines.find((engine) => engine.agent.test(agent)) ?? null;
}

/**
 * Whether a host name lies in a domain of the engine. It proves nothing yet: the name must also lead back to the address.
 * @param hostname lower-case, without a dot at the end
 */
export function belongsTo(engine: SearchEngine, hostname: string): boolean {
  return engine.domains.some((domain) => hostname === domain || hostname.endsWith(`.${domain}`));
}
