import type { RequestFacts } from '../proxy/request-facts.js';
import type { Protection, RawHeaders } from './protection.js';

/**
 * A Content-Security-Policy (CSP Level 3) that WordPress, its editor and common plugins can live with: scripts from
 * this site and from https, no plugins' objects but this site's own, no foreign base address, no foreign frames around
 * the site. Inline scripts stay allowed, since WordPress prints them on every page.
 */
const DIRECTIVES: readonly (readonly [name: string, value: string])[] = [
  ['script-src', "'self' 'unsafe-inline' 'unsafe-eval' https: blob:"],
  ['object-src', "'self' blob:"],
  ['base-uri', "'self'"],
  ['frame-ancestors', "'self'"],
];

/** Directives for which `default-src` stands in when the site's own policy leaves them out (CSP section 6.1). */
const FALL_BACK_TO_DEFAULT = new Set(['script-src', 'object-src']);

/**
 * Headers that tell browsers to refuse injected content, on every answer. What the site already says for itself stays:
 * of the policy only those directives are added that the site's own policy leaves open.
 */
export const securityHeaders: Protection = {
  name: 'security-headers',
  onError: 'allow',
  prepare({ options, paths }) {
    if (options.xss_protection === 0) return null;
    const admin = `${paths.admin}/`;
    return {
      editHeaders: (facts, headers) => addSecurityHeaders(isEmbed(facts, admin), headers),
    };
  },
};

const WHOLE_POLICY = policyText(DIRECTIVES);
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
  const set = own === null ? NO_DIRECTIVES : directivesOf(own);
  // Whoever already says who may frame the page is left alone: `frame-ancestors` would overrule X-Frame-Options.
  const framing = frameOptions || set.has('frame-ancestors') || embed;
  if (!nosniff) headers.push('X-Content-Type-Options', 'nosniff');
  if (!referrer) headers.push('Referrer-Policy', 'strict-origin-when-cross-origin');
  if (!framing) headers.push('X-Frame-Options', 'SAMEORIGIN');
  const policy = own === null ? (framing ? WITHOUT_FRAMES : WHOLE_POLICY) : openDirectives(set, framing);
  if (policy !== '') headers.push('Content-Security-Policy', policy);
}

/** PHP's default for `max_input_vars`: what is given beyond it, WordPress may not see. */
const SEEN_BY_PHP = 1000;

/**
 * WordPress offers posts for embedding in other sites at `…/embed` and `?embed=true` (oEmbed). Only where WordPress is
 * sure to answer with its embed page; any other page must not be framed because a stranger added a word to its address.
 */
function isEmbed({ path, routeSegments, scriptAt, segments, query }: RequestFacts, admin: string): boolean {
  if ((scriptAt !== -1 && segments[scriptAt] !== 'index.php') || `${path}/`.startsWith(admin)) return false;
  if (routeSegments.length > 1 && routeSegments[routeSegments.length - 1] === 'embed') return true;
  const asked = query.all('embed');
  return asked.length > 0 && query.given <= SEEN_BY_PHP && asked.every((value) => value !== '');
}

function directivesOf(policies: readonly string[]): Set<string> {
  const names = new Set<string>();
  for (const policy of policies) {
    for (const directive of policy.split(/[;,]/)) {
      const name = /^\s*([a-z-]+)/i.exec(directive)?.[1];
      if (name !== undefined) names.add(name.toLowerCase());
    }
  }
  return names;
}

/** The directives that the site's own policy leaves open; several policies are enforced side by side. */
function openDirectives(set: ReadonlySet<string>, framing: boolean): string {
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
