import crawlers from 'crawler-user-agents';
import { describe, expect, it } from 'vitest';
import { leastProcessorTime } from '../../test/support/processor-time.js';
import { belongsTo, botName, botNames, claimedSearchEngine } from './bots.js';
import { visitorType } from './visitor-type.js';

const CHROME =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36';
const BROWSERS = [
  CHROME,
  'Mozilla/5.0 (X11; Linux x86_64; rv:127.0) Gecko/20100101 Firefox/127.0',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1',
  'Mozilla/5.0 (Linux; Android 14; SM-S921B) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/25.0 Chrome/121.0.0.0 Mobile Safari/537.36',
  `${CHROME} Edg/126.0.0.0`,
  `${CHROME} OPR/111.0.0.0`,
];
const GOOGLEBOT = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)';

describe('the type of a visitor', () => {
  it('is Human for a browser', () => {
    for (const agent of BROWSERS) expect([agent, visitorType(agent, null)]).toEqual([agent, 'Human']);
  });

  it('is Unknown without a user agent, or with an empty one', () => {
    expect([visitorType(null, null), visitorType('', null), visitorType('  ', null)]).toEqual([
      'Unknown',
      'Unknown',
      'Unknown',
    ]);
  });

  it('is the name of a bot', () => {
    const agents = {
      'curl/8.5.0': 'curl',
      'WordPress/6.5.5; https://example.com': 'WordPress',
      // As Hide WordPress Version lets it go out.
      'WordPress; https://example.com': 'WordPress',
      'Wget/1.21.4': 'Wget',
      'python-requests/2.32.3': 'python-requests',
      'sqlmap/1.8#stable (https://sqlmap.org)': 'sqlmap',
      'Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)': 'AhrefsBot',
      'Mozilla/5.0 (compatible; SemrushBot/7~bl; +http://www.semrush.com/bot.html)': 'SEMrushBot',
      'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.1; +https://openai.com/gptbot)':
        'GPTBot',
      'Mozilla/5.0 (compatible; ClaudeBot/1.0; +claudebot@example.com)': 'ClaudeBot',
      'facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)': 'facebookexternalhit',
      'Mozilla/5.0+(compatible; UptimeRobot/2.0; http://www.uptimerobot.com/)': 'UptimeRobot',
    };
    for (const [agent, name] of Object.entries(agents))
      expect([agent, visitorType(agent, null)]).toEqual([agent, name]);
  });

  it('does not take the name of an unlisted bot from what it sends', () => {
    expect(visitorType('Zqxwv-spider/1.0 (<script>alert(1)</script>)', null)).toBe('Other bot');
  });

  it('believes a search engine only when DNS proved it', () => {
    expect(visitorType(GOOGLEBOT, null)).toBe('Unverified bot');
    expect(visitorType(GOOGLEBOT, 'Bing')).toBe('Unverified bot');
    expect(visitorType(GOOGLEBOT, 'Google')).toBe('Googlebot');
    expect(visitorType('Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)', 'Bing')).toBe(
      'bingbot',
    );
    expect(visitorType('Mozilla/5.0 (compatible; YandexBot/3.0; +http://yandex.com/bots)', 'Yandex')).toBe('YandexBot');
  });

  it('is one of a bounded number, each short and free of markup', () => {
    const types = new Set<string>();
    for (const { instances } of crawlers) for (const agent of instances) types.add(visitorType(agent, null));
    expect(types.size).toBeLessThanOrEqual(crawlers.length + 4);
    for (const type of types) expect(type).toMatch(/^[^<>&"\p{Cc}]{1,40}$/u);
  });

  it('answers at once for agents made to be slow', () => {
    const hostile = [
      'a/'.repeat(150),
      'Spider'.repeat(50),
      'ContextualBot'.repeat(23),
      '0'.repeat(300),
      'a 1.'.repeat(75),
    ];
    for (const agent of hostile) visitorType(agent, null);
    const ms = leastProcessorTime(() => {
      for (const agent of hostile) for (let i = 0; i < 20; i++) visitorType(agent, null);
    });
    expect(ms / 100).toBeLessThan(5);
  });
});

describe('the list of bots', () => {
  it('is looked through as if each entry were tried in order', () => {
    const patterns = crawlers.map(({ pattern }) => new RegExp(pattern));
    for (const { instances } of crawlers) {
      for (const agent of instances.slice(0, 2)) {
        const first = crawlers[patterns.findIndex((pattern) => pattern.test(agent))];
        expect([agent, botName(agent)]).toEqual([agent, first && botNames([first])(agent)]);
      }
    }
  });

  it('does not know a browser', () => {
    for (const agent of BROWSERS) expect(botName(agent)).toBeNull();
  });
});

describe('the claim to be a search engine', () => {
  it('is read from the agent', () => {
    expect(claimedSearchEngine(GOOGLEBOT)?.name).toBe('Google');
    expect(claimedSearchEngine('AdsBot-Google (+http://www.google.com/adsbot.html)')?.name).toBe('Google');
    expect(claimedSearchEngine('Mozilla/5.0 (compatible; Baiduspider/2.0)')?.name).toBe('Baidu');
    expect(claimedSearchEngine(CHROME)).toBeNull();
    expect(claimedSearchEngine(null)).toBeNull();
  });

  it('is backed only by names in the domains that the engine publishes', () => {
    const google = claimedSearchEngine(GOOGLEBOT);
    if (google === null) throw new Error('Google is not known.');
    expect(belongsTo(google, 'crawl-66-249-66-1.googlebot.com')).toBe(true);
    expect(belongsTo(google, 'rate-limited-proxy-66-249-90-77.google.com')).toBe(true);
    expect(belongsTo(google, 'evilgooglebot.com')).toBe(false);
    expect(belongsTo(google, 'googlebot.com.example.org')).toBe(false);
    expect(belongsTo(google, '192.0.2.1.bc.googleusercontent.com')).toBe(false);
  });

  it('can’t be proved for an engine that publishes no names', () => {
    const duck = claimedSearchEngine('DuckDuckBot/1.1; (+http://duckduckgo.com/duckduckbot.html)');
    expect(duck && belongsTo(duck, 'duckduckbot.duckduckgo.com')).toBe(false);
  });
});
