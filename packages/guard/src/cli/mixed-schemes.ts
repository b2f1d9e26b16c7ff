/**
 * Whether a page cache has one copy of a page for http and https. Then the first visitor determines which links all
 * others get: https visitors get scripts and styles by http, which browsers block, or a redirect to the page itself.
 * The first part are rules; `findMixedSchemes` sends the requests.
 */
import { randomBytes } from 'node:crypto';
import { guideFile } from '../lib/guides.js';
import { plainText } from '../lib/plain-text.js';
import { toUpstreamAddress } from '../lib/socket-address.js';
import type { SiteConfig } from '../site.js';
import { GUARD_HEADER, guardHeader } from '../wordpress/signature.js';
import { OWN_ADDRESS, toForwardedHeaders } from '../wordpress/site-origin.js';
import { type ConnectTo, type VisitResponse, visit } from './visit.js';

/** Longest address in a message, characters. */
const ADDRESS_MAX = 200;

/** A page that was given by https although it was made for http. */
export interface MixedSchemes {
  /** Address of the page. */
  readonly page: string;
  /** The address by http that it names, or its own address where it redirects to itself. */
  readonly link: string;
}

/** The fault and its remedy. */
export function describeMixedSchemes({ page, link }: MixedSchemes): {
  readonly message: string;
  readonly advice: string;
} {
  const effect = page === link ? 'it redirects to itself' : `it names ${link}`;
  return {
    message: `A page cache gives visitors by https the copy that it made for http: for ${page}, ${effect}.`,
    advice: `Add the scheme to the key of the cache: behind guard \`$http_x_forwarded_proto\` in nginx, \`req.http.X-Forwarded-Proto\` in Varnish; in front of guard \`$scheme\`. Let it store no redirects, and empty it: ${guideFile('operations.md')}, “The visitor’s scheme”.`,
  };
}

/**
 * The first address by http of its own host to which a page leads: its redirect, or a link, script, style or form in
 * it. A redirect to the page itself counts, too.
 *
 * @param address address of the page, by https
 */
export function findPlainLink(
  { status, headers, body }: Pick<VisitResponse, 'status' | 'headers' | 'body'>,
  address: URL,
): string | null {
  const isOwnByHttp = (text: string) => {
    if (!URL.canParse(text, address.href)) return false;
    const { protocol, hostname } = new URL(text, address);
    return protocol === 'http:' && hostname === address.hostname;
  };
  const { location } = headers;
  if (status >= 300 && status < 400 && location !== undefined && location !== '') {
    if (isOwnByHttp(location)) return plainText(location, ADDRESS_MAX);
    const named = URL.canParse(location, address.href) ? new URL(location, address).href : null;
    return named === address.href ? plainText(named, ADDRESS_MAX) : null;
  }
  for (const [, link = ''] of body.matchAll(LINK)) if (isOwnByHttp(link)) return plainText(link, ADDRESS_MAX);
  return null;
}

const LINK = /\b(?:href|src|action|content)\s*=\s*["']?(http:\/\/[^"'\s<>]+)/gi;

/**
 * Requests pages by http and then by https, as visitors do, and compares the second with a page that no cache has. Most
 * of them are pages that no visitor requests, so that no visitor gets what was made for these requests:
 *
 * - the first page with a query of its own. Caches store it, since WordPress answers with 200;
 * - a missing page, for caches that store every response but ignore a query;
 * - at the public address also the first page itself, for caches that store nothing else. Visitors by http request it,
 *   too, where http leads to the site.
 *
 * @param options `connect`, `connectByHttp`: servers to connect to instead of those of the public address
 * @returns null where both schemes have copies of their own, or nothing is cached
 */
export async function findMixedSchemes(
  site: Pick<SiteConfig, 'upstream' | 'secret'>,
  home: URL,
  options: { readonly connect?: ConnectTo | undefined; readonly connectByHttp?: ConnectTo | undefined },
): Promise<MixedSchemes | null> {
  const folder = home.pathname.replace(/\/+$/, '');
  const behind = (url: URL) => visitBehind(site, url);
  const outside = (url: URL) =>
    visit(url, { connect: url.protocol === 'http:' ? options.connectByHttp : options.connect });
  const name = () => `security-optimizer-doctor-${randomBytes(8).toString('hex')}`;
  const first = new URL(`${folder}/`, home);
  const missing = () => new URL(`${folder}/${name()}/`, home);
  const withQuery = () => new URL(`${first.pathname}?${name()}`, home);
  return (
    (await compare(behind, withQuery(), withQuery())) ??
    (await compare(behind, missing(), missing())) ??
    (await compare(outside, withQuery(), withQuery())) ??
    (await compare(outside, first, withQuery()))
  );
}

/** @param fresh address of a page that the cache does not have */
async function compare(
  send: (url: URL) => ReturnType<typeof visit>,
  address: URL,
  fresh: URL,
): Promise<MixedSchemes | null> {
  const plain = new URL(address);
  plain.protocol = 'http:';
  await send(plain);
  const page = await send(address);
  if ('fault' in page) return null;
  const link = findPlainLink(page, address);
  if (link === null) return null;
  // WordPress itself may write such links, for example in an old post.
  const made = await send(fresh);
  return 'fault' in made || findPlainLink(made, fresh) !== null
    ? null
    : { page: plainText(address.href, ADDRESS_MAX), link };
}

/** Requests a page from the upstream web server as guard forwards a visitor. */
function visitBehind({ upstream, secret }: Pick<SiteConfig, 'upstream' | 'secret'>, url: URL) {
  const scheme = url.protocol === 'https:' ? 'https' : 'http';
  const signed = guardHeader(secret, {
    time: Math.floor(Date.now() / 1000),
    requestId: randomBytes(8).toString('hex'),
    scheme,
    address: OWN_ADDRESS,
  });
  return visit(new URL(`http://localhost${url.pathname}${url.search}`), {
    connect: toUpstreamAddress(upstream),
    headers: {
      host: url.host,
      ...toForwardedHeaders({ scheme, host: url.host, address: OWN_ADDRESS }),
      [GUARD_HEADER]: signed,
    },
  });
}
