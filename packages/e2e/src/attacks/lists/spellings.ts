import { type SecurityField, siteSecurityToggles } from '@security-optimizer/contract/settings/protections';
import { form, type TypedRequest } from '../../http/request.js';
import { listSpellings, type Spelling, toSpelledRequest } from '../../http/spellings.js';
import { type Attack, answered, type Check, fetchResponse, frontPage, refused, silentAbout } from '../attack.js';

/** A resource that a protection closes: the request in its plain spelling, and a sign of success. */
interface Resource {
  readonly field: SecurityField;
  readonly path: string;
  readonly sign: RegExp;
  readonly request?: Omit<TypedRequest, 'target'>;
  readonly asOwner?: true;
}

const xmlCall =
  '<?xml version="1.0"?><methodCall><methodName>system.listMethods</methodName><params></params></methodCall>';

const resources: readonly Resource[] = [
  {
    ...{ field: 'disable_xml_rpc', path: '/xmlrpc.php', sign: /<methodResponse>|XML-RPC server accepts|<rsd / },
    request: { method: 'POST', body: xmlCall, headers: { 'content-type': 'text/xml' } },
  },
  { field: 'disable_feed', path: '/wp-rss2.php', sign: /<rss|<feed[\s>]|<rdf:RDF/i },
  { field: 'lock_system_folders', path: '/wp-includes/load.php', sign: /Fatal error/ },
  { field: 'lock_system_folders', path: '/wp-config.php.bak', sign: /DB_PASSWORD/ },
  { field: 'lock_system_folders', path: '/.git/config', sign: /\[core\]/ },
  { field: 'delete_readme', path: '/readme.html', sign: /Semantic Personal Publishing/ },
  { field: 'wp_remove_version', path: '/license.txt', sign: /WordPress - Web publishing software/ },
  { field: 'disable_file_edit', path: '/wp-admin/plugin-editor.php', sign: /name=["']newcontent["']/, asOwner: true },
];

/** The same characters in a search, where they bypass no rule. */
function searchedFor(spelling: Spelling): Check {
  const { how, target, version, headers } = spelling;
  const words = target.replace('{host}', 'example.com').replace(/[#\s&?]/g, (letter) => encodeURIComponent(letter));
  return answered(`a search for the same letters (${how})`, {
    target: `/?s=${words}`,
    ...(version === undefined ? {} : { version }),
    ...(headers === undefined ? {} : { headers }),
  });
}

const twins = new Map(listSpellings('/a-walk.html').map((spelling) => [spelling.how, searchedFor(spelling)]));

const bySpelling: readonly (readonly Attack[])[] = resources.map(({ field, path, sign, request, asOwner }) =>
  listSpellings(path).map((spelling) => ({
    group: 'spellings' as const,
    name: `${path}, ${spelling.how}`,
    expected: 'refused',
    needs: asOwner ? [field, 'owner session' as const] : [field],
    run: refused((site) => {
      const cookie = asOwner ? { headers: { cookie: site.owner?.cookie ?? '' } } : {};
      return toSpelledRequest(spelling, site.host, { ...request, ...cookie });
    }, sign),
    twin: twins.get(spelling.how) ?? frontPage,
  })),
);

/** Forged: only the servers of the plugin can sign. */
const signature = 'Z3Vlc3NlZCwgbm90IHNpZ25lZCBhdCBhbGw%3D';
const SHAPE = `for=jetpack&token=%24guess%3A1%3A0&timestamp=1795392000&nonce=Zx81kQ&body-hash=${signature}&signature=${signature}`;
/** On a site with the plugin, the plugin checks the signature of such a call; the methods of WordPress stay closed. */
const signedShapes: readonly Attack[] = listSpellings('/xmlrpc.php').map((spelling) => ({
  ...{ group: 'spellings', name: `XML-RPC in the shape of a signed request, ${spelling.how}` },
  ...{ expected: 'no method of WordPress', needs: ['disable_xml_rpc'] },
  run: silentAbout((site) => {
    const [path = '', rest] = spelling.target.split('?');
    const target = `${path}?${SHAPE}${rest === undefined ? '' : `&${rest}`}`;
    return toSpelledRequest({ ...spelling, target }, site.host, { method: 'POST', body: xmlCall });
  }, /system\.multicall|wp\.getUsersBlogs|<rsd /),
  twin: twins.get(spelling.how) ?? frontPage,
}));

const FEED = /<rss|<feed[\s>]|<rdf:RDF/i;
const feedTwin = answered('the post itself', '/?p=1', { statuses: [200, 301] });
const feeds: readonly Attack[] = [
  ...['/feed/', '/feed/atom/', '/comments/feed/', '/index.php/feed/', '/?feed=rss2', '/index.php?feed=rss2'],
  ...['/?%66eed=rss2', '/?feed=&feed=rss2', '/?x=1&&feed=rss2', '/?p=1&withcomments=1&feed=atom', '/%66eed/', '/FEED/'],
  ...['/x/../feed/', '//feed/', '/?feed=rss2%00', '/page/2/feed/', '/?feed=rss2&p=1'],
].map((target) => ({
  ...{ group: 'spellings', name: `a feed at ${target}`, expected: 'refused', needs: ['disable_feed'] },
  run: refused(target, FEED),
  twin: feedTwin,
}));
const feedForms: readonly Attack[] = [
  ['a form', form('/', 'feed=rss2')],
  ['a form against the query', form('/?feed=', 'feed=rss2')],
  ['a form to index.php', form('/index.php', 'feed=atom')],
].map(([name, request]) => ({
  ...{ group: 'spellings', name: `a feed by ${name}`, expected: 'refused', needs: ['disable_feed'] },
  run: refused(request as TypedRequest, FEED),
  twin: answered('a form of the same kind', form('/', 'food=rss2')),
}));

const VERSION =
  /<meta name=["']generator["'][^>]*WordPress [\d.]+|<generator>[^<]*\?v=[\d.]+|generator="WordPress\/[\d.]+/i;
const versions: readonly Attack[] = [
  ...['/', '/?p=1', '/nothing-here/', '/?s=hello', '/feed/', '/feed/atom/', '/wp-links-opml.php', '/wp-sitemap.xml'],
  ...['/wp-json/', '/xmlrpc.php?rsd', '/wp-signup.php', '/?feed=rss2'],
].map((target) => ({
  ...{ group: 'spellings', name: `the version at ${target}`, expected: 'not told', needs: ['wp_remove_version'] },
  run: silentAbout(target, VERSION),
  twin: frontPage,
}));

const headers: readonly Attack[] = [
  '/',
  '/?p=1',
  '/nothing-here/',
  '/wp-json/',
  '/wp-includes/css/buttons.min.css',
  '/%zz',
].map((target) => ({
  ...{ group: 'spellings', name: `framing ${target}`, expected: 'the headers of Advanced XSS Protection' },
  needs: ['xss_protection'],
  async run(site) {
    const response = await fetchResponse(site, target);
    const required = ['content-security-policy', 'x-content-type-options', 'x-frame-options', 'referrer-policy'];
    const missing = required.filter((name) => response?.headers[name] === undefined);
    return { ok: missing.length === 0, got: missing.length === 0 ? 'all' : `without ${missing.join(', ')}` };
  },
  twin: answered('the style sheet is still one', '/wp-includes/css/buttons.min.css', {
    content: /content-type: text\/css/i,
  }),
}));

/** Every protection of Site Security, with every spelling of the resource that it closes. */
export const spellingAttacks: readonly Attack[] = [
  ...bySpelling.flat(),
  ...signedShapes,
  ...feeds,
  ...feedForms,
  ...versions,
  ...headers,
];

/**
 * Each spelling once, of the resources in turn: enough for a server that changes targets on their way. Such servers refuse
 * some malformed targets themselves, without the headers of Advanced XSS Protection.
 */
export const shortSpellingAttacks: readonly Attack[] = [
  ...Array.from(twins, (_, at) => bySpelling[at % bySpelling.length]?.[at] ?? []).flat(),
  ...feeds,
  ...feedForms,
  ...headers.filter(({ name }) => !name.includes('%zz')),
];

/** Protections without an attack; a test checks that there are none. */
export const unattacked = siteSecurityToggles
  .map(({ field }) => field)
  .filter((field) => !spellingAttacks.some(({ needs }) => needs?.includes(field)));
