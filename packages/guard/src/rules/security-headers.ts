import type { RawHeaders } from '../http/headers.js';
import type { RequestFacts } from '../http/request-facts.js';
import { listFolderAddresses } from '../site.js';
import type { Rule } from './rule.js';

/**
 * A Content-Security-Policy (CSP Level 3) that is compatible with WordPress, its editor and common plugins: scripts and
 * embedded objects by http, https and blob, base URL and framing only from this site. Inline scripts stay allowed,
 * because WordPress prints them on every page. Therefore scripts from `data:`, into which optimisers convert inline
 * ones, give an attacker no advantage (CSP section 6.7). Neither does `http:`: in a page by https, browsers load no
 * script and no object by http (Mixed Content, W3C), and an attacker who can change a page by http can change the
 * policy as well.
 */
const DIRECTIVES: readonly (readonly [name: string, value: string])[] = [
  ['script-src', "'self' 'unsafe-inline' 'unsafe-eval' https: http: data: blob:"],
  ['object-src', "'self' https: http: blob:"],
  ['base-uri', "'self'"],
  ['frame-ancestors', "'self'"],
];

/** Directives that fall back to `default-src` when the site's policy omits them (CSP section 6.1). */
const FALL_BACK_TO_DEFAULT = new Set(['script-src', 'object-src']);

/**
 * Adds headers against injected content to every response. Headers that the site sets itself are kept, and its policy
 * only gets the directives that it lacks.
 */
export const securityHeaders: Rule = {
  name: 'security-headers',
  onError: 'allow',
  compile({ options, paths }) {
    if (options.xss_protection === 0) return null;
    const admin = listFolderAddresses(paths, 'admin').map((path) => `${path}/`);
    return {
      editResponseHeaders: (facts, headers) => addSecurityHeaders(isEmbed(facts, admin), headers),
    };
  },
};

const FULL_POLICY = policyText(DIRECTIVES);
const WITHOUT_FRAMES = policyText(DIRECTIVES.filter(([name]) => name !== 'frame-ancestors'));
const NO_DIRECTIVES: ReadonlySet<string> = new Set();

function addSecurityHeaders(embed: boolean, headers: RawHeaders): void {
  let nosniff = false;
  let referrer = false;
  let frameOptions = false;
  let own: string[] | null = null;
  for (let i = 0; i < headers.length; i += 2) {
    const name = headers[i] as string;
    switch (name.length) {
      case 15:
        if (name.toLowerCase() === 'x-frame-options') frameOptions = true;
        else if (name.toLowerCase() === 'referrer-policy') referrer = true;
        break;
      case 22:
        if (name.toLowerCase() === 'x-content-type-options') nosniff = true;
        break;
      case 23:
        if (name.toLowerCase() === 'content-security-policy') {
          own ??= [];
          own.push(headers[i + 1] as string);
        }
        break;
    }
  }
  const set = own === null ? NO_DIRECTIVES : readDirectives(own);
  // A site that already restricts framing is not changed: `frame-ancestors` would override X-Frame-Options.
  const framing = frameOptions || set.has('frame-ancestors') || embed;
  if (!nosniff) headers.push('X-Content-Type-Options', 'nosniff');
  if (!referrer) headers.push('Referrer-Policy', 'strict-origin-when-cross-origin');
  if (!framing) headers.push('X-Frame-Options', 'SAMEORIGIN');
  const policy = own === null ? (framing ? WITHOUT_FRAMES : FULL_POLICY) : missingDirectives(set, framing);
  if (policy !== '') headers.push('Content-Security-Policy', policy);
}

/** PHP's default for `max_input_vars`. WordPress may not see parameters beyond it. */
const MAX_INPUT_VARS = 1000;

/**
 * Whether WordPress certainly responds with a page for embedding in other sites (oEmbed: `…/embed`, `?embed=true`). No
 * other page must become frameable because a client added a word to its URL.
 */
function isEmbed({ path, routeSegments, scriptAt, segments, query }: RequestFacts, admin: readonly string[]): boolean {
  if (scriptAt !== -1 && segments[scriptAt] !== 'index.php') return false;
  if (admin.some((folder) => `${path}/`.startsWith(folder))) return false;
  if (routeSegments.length > 1 && routeSegments[routeSegments.length - 1] === 'embed') return true;
  const values = query.all('embed');
  return values.length > 0 && query.count <= MAX_INPUT_VARS && values.every((value) => value !== '');
}

function readDirectives(policies: readonly string[]): Set<string> {
  const names = new Set<string>();
  for (const policy of policies) {
    for (const directive of policy.split(/[;,]/)) {
      const name = /^\s*([a-z-]+)/i.exec(directive)?.[1];
      if (name !== undefined) names.add(name.toLowerCase());
    }
  }
  return names;
}

/** The directives that the site's policy lacks, as an additional policy. Browsers enforce all policies. */
function missingDirectives(set: ReadonlySet<string>, framing: boolean): string {
  return policyText(
    DIRECTIVES.filter(([name]) => {
      if (set.has(name) || (framing && name === 'frame-ancestors')) return false;
      return !(FALL_BACK_TO_DEFAULT.has(name) && set.has('default-src'));
    }),
  );
}

function policyText(directives: readonly (readonly [string, string])[]): string {
  return directives.map(([name, value]) => `${name} ${value}`).join('; ');
}
