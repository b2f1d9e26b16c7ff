import { parseAddress } from '../lib/address.js';
import { AddressSet, privateNetworks } from '../lib/address-set.js';
import { guideFile } from '../lib/guides.js';
import type { Arrival } from '../wordpress/inspection.js';
import { type Finding, type Judgement, toFinding } from './doctor-findings.js';
import { describeMixedSchemes, type MixedSchemes } from './mixed-schemes.js';
import type { CertificateFacts, LocalEndpoint } from './visit.js';

/** The conclusions of `doctor` from visits to the site's public address: pure rules, like those of `doctor-checks`. */

/** What responded to a visit to the site's public address. */
export type PublicResponse =
  | { readonly by: 'guard'; readonly arrival: Arrival }
  /** A guard that rejected the inspection: another one, or one of an older version. */
  | { readonly by: 'other-guard' }
  /** WordPress without guard in front. It refuses visitors or serves them. */
  | { readonly by: 'wordpress'; readonly refuses: boolean }
  | { readonly by: 'other'; readonly status: number }
  /** No response. */
  | { readonly by: 'none'; readonly fault: string };

const ROUTING_ADVICE = `Have the web server that visitors reach hand them on to guard (${guideFile('install.md')}, step 5), also for the other servers of this site: port 80, www, IPv6.`;

/** Whether visitors of the public address reach this guard. @param url null when the address is not known */
export function checkPublicAddress(url: string | null, response: PublicResponse | null): Finding {
  const judge = (): Judgement => {
    if (url === null || response === null) {
      return [
        'skipped',
        'address-unknown',
        'The site’s public address is not known, because WordPress has never told it.',
      ];
    }
    switch (response.by) {
      case 'guard': {
        const { refusedBy, client } = response.arrival;
        if (refusedBy === null) return ['ok', `${url} reaches this guard.`];
        const message = `${url} reaches this guard. Its rule ${refusedBy} refuses visits of this machine (${client}).`;
        return ['ok', message];
      }
      case 'other-guard': {
        const advice =
          'Start guard again after an update; else another data folder or machine serves this address: compare the proxy’s target with `listen`.';
        return [
          'problem',
          'address-other-guard',
          `A guard answers at ${url}, but not this one, or one of an older version.`,
          advice,
        ];
      }
      case 'wordpress':
        return response.refuses
          ? [
              'problem',
              'address-refused-by-wordpress',
              `${url} leads past guard, and WordPress refuses its visitors with 403.`,
              ROUTING_ADVICE,
            ]
          : ['problem', 'address-past-guard', `${url} leads past guard: WordPress answers by itself.`, ROUTING_ADVICE];
      case 'other':
        return [
          'problem',
          'address-other-server',
          `Guard does not answer at ${url}, but something else does (${response.status}).`,
          ROUTING_ADVICE,
        ];
      case 'none': {
        const advice =
          'Check DNS, the firewall and the web server in front. Where this machine can’t reach its own public address, name one that it can with --connect.';
        return ['problem', 'address-no-response', `Nothing answers at ${url}: ${response.fault}.`, advice];
      }
    }
  };
  return toFinding('public-address', judge());
}

/** The invented client in a forged `X-Forwarded-For`: an address reserved for documentation (RFC 5737). */
export const FORGED_CLIENT = '192.0.2.123';

/**
 * Whether guard sees the address of each visitor.
 *
 * @param seen the visit as guard saw it, and this machine's end of the connection; null when guard did not see it
 * @param forged a visit with a forged `X-Forwarded-For` as guard saw it; null when guard did not see it
 * @param ownAddresses addresses of this machine
 */
export function checkClientAddress(
  seen: { readonly arrival: Arrival; readonly own: LocalEndpoint } | null,
  forged: Arrival | null,
  options: { readonly proxyProtocol: boolean; readonly ownAddresses: ReadonlySet<string> },
): Finding {
  const judge = (): Judgement => {
    if (seen === null)
      return ['skipped', 'client-unknown', 'Guard did not see the visit, so there is no address to look at.'];
    const { arrival, own } = seen;
    const { client, peer, isPeerTrusted, forwardedFor } = arrival;
    const isDirect = arrival.peerPort === own.port && peer === own.address;
    const right = `Guard sees visits of this machine from ${client}.`;
    if (isDirect) return ['ok', `${right} No proxy is in between.`];
    const forgery = forged === null ? null : judgeForgery(arrival, forged, [own.address, ...options.ownAddresses]);
    if (forgery === 'by-this-machine') {
      const message = `The proxy at ${peer} hands on the X-Forwarded-For that this machine sends. If it believes other visitors too, they can choose their address.`;
      const advice = `Let it believe your own proxies alone (nginx \`set_real_ip_from\`, Caddy \`trusted_proxies\`). From another machine, request ${arrival.scheme}://${arrival.host}/ with the header X-Forwarded-For: ${FORGED_CLIENT}; the Activity Log must show that machine’s own address.`;
      return ['warning', 'client-forgeable-here', message, advice];
    }
    if (forgery === 'by-everybody') {
      const message = `The proxy at ${peer} hands on the X-Forwarded-For that visitors send, so they can choose their address.`;
      const advice =
        'Have the proxy set X-Forwarded-For itself, for example `proxy_set_header X-Forwarded-For $remote_addr` in nginx.';
      return ['problem', 'client-forgeable', message, advice];
    }
    const share = `All visitors share the address ${peer}, so that one attacker would lock out everybody.`;
    if (options.proxyProtocol && !isPeerTrusted) return ['ok', right];
    if (isPeerTrusted) {
      if (forwardedFor === null && !options.proxyProtocol) {
        const advice = `Have the proxy set X-Forwarded-For (${guideFile('operations.md')}, With TLS).`;
        return ['problem', 'client-not-named', `The proxy at ${peer} does not say who visits. ${share}`, advice];
      }
      if (isPrivate(client) && !options.ownAddresses.has(client)) {
        const message = `Guard takes ${client}, a private address, for the visitor: another proxy seems to be in between.`;
        return [
          'warning',
          'client-private',
          message,
          `Add ${client} or its range to \`trustedProxies\` if that is a proxy, and run systemctl reload security-optimizer.`,
        ];
      }
      return ['ok', `${right} The proxy at ${peer} is trusted.`];
    }
    const advice = `Add ${peer} to \`trustedProxies\` (attach --trusted-proxy ${peer}) if it is your proxy, and run systemctl reload security-optimizer.`;
    if (forwardedFor !== null)
      return ['problem', 'client-proxy-untrusted', `The proxy at ${peer} is not trusted. ${share}`, advice];
    if (isPrivate(peer)) {
      const message = `Visits come to guard from the private address ${peer}, which is no trusted proxy. If it is a proxy: ${share[0]?.toLowerCase()}${share.slice(1)}`;
      return ['warning', 'client-perhaps-proxy', message, `${advice} Have it set X-Forwarded-For.`];
    }
    return ['ok', right];
  };
  return toFinding('client-address', judge());
}

/**
 * Who can choose the client address by sending `X-Forwarded-For`. This machine may be a trusted proxy, for guard or for
 * the proxy in front, and then its own visit proves nothing about other visitors.
 *
 * @param plain the visit without that header
 * @param ownAddresses addresses of this machine
 */
function judgeForgery(
  plain: Arrival,
  forged: Arrival,
  ownAddresses: readonly string[],
): 'by-everybody' | 'by-this-machine' | null {
  if (forged.client !== FORGED_CLIENT) return null;
  const own = AddressSet.from(['127.0.0.0/8', '::1', ...ownAddresses]);
  const isOwn = (entry: string) => {
    const address = parseAddress(entry);
    return address !== null && own.has(address);
  };
  const received = toEntries(forged.forwardedFor);
  const added = received.slice(received.indexOf(FORGED_CLIENT) + 1);
  // The proxy has added this machine's address, and guard passes it over as that of a trusted proxy.
  if (added.length > 0) return added.every(isOwn) ? null : 'by-everybody';
  // A proxy that names visitors by itself has believed this machine instead.
  const named = toEntries(plain.forwardedFor);
  return named.length > 0 && named.every(isOwn) ? 'by-this-machine' : 'by-everybody';
}

const toEntries = (list: string | null): readonly string[] => list?.split(',').map((entry) => entry.trim()) ?? [];

function isPrivate(text: string): boolean {
  const address = parseAddress(text);
  return address !== null && privateNetworks.has(address);
}

/** The response to a visit over http. */
export type PlainResponse = { readonly status: number; readonly location: string | null } | { readonly fault: string };

/**
 * Whether visitors use https, and whether http redirects there.
 *
 * @param url public address; null when it is not known
 * @param plain the response over http; null when it was not requested
 */
export function checkHttps(url: string | null, plain: PlainResponse | null): Finding {
  const judge = (): Judgement => {
    if (url === null) return ['skipped', 'https-address-unknown', 'The site’s public address is not known.'];
    if (!url.startsWith('https:')) {
      const message = `The public address is ${url}: passwords and session cookies travel unprotected.`;
      const advice = `Get a certificate, let the web server in front speak TLS (${guideFile('operations.md')}), and change the address to https in WordPress’s Settings, General.`;
      return ['problem', 'https-not-used', message, advice];
    }
    if (plain === null) return ['ok', 'The public address uses https.'];
    if ('fault' in plain) return ['ok', 'The public address uses https, and http is not answered.'];
    if (plain.status >= 300 && plain.status < 400 && plain.location?.startsWith('https://')) {
      return ['ok', 'The public address uses https, and http leads there.'];
    }
    const advice =
      'Redirect port 80 to https in the web server in front (nginx: `return 301 https://$host$request_uri`).';
    return [
      'warning',
      'https-no-redirect',
      `By http the site answers with ${plain.status} and does not lead to https.`,
      advice,
    ];
  };
  return toFinding('https', judge());
}

/** Descriptions of the most frequent error codes. */
const CERTIFICATE_FAULTS: Readonly<Record<string, string>> = {
  CERT_HAS_EXPIRED: 'its time is over',
  CERT_NOT_YET_VALID: 'its time has not begun, or a clock is wrong',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'it is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'no known authority has signed it',
  ERR_TLS_CERT_ALTNAME_INVALID: 'it belongs to other names',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its issuer is not known; the web server may not send the intermediate certificate',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'its issuer is not known',
};

const DAY_MS = 24 * 3600_000;
const EXPIRY_DAYS = 14;

/** Whether the certificate is valid, and for how long. @param certificate null when none was received */
export function checkCertificate(certificate: CertificateFacts | null, now: number): Finding {
  const judge = (): Judgement => {
    if (certificate === null) return ['skipped', 'certificate-not-seen', 'No certificate was seen.'];
    const { fault, validUntil } = certificate;
    const until = validUntil === null ? null : new Date(validUntil).toISOString().slice(0, 10);
    if (fault !== null || (validUntil !== null && validUntil < now)) {
      const why = fault === null ? `it ended on ${until}` : (CERTIFICATE_FAULTS[fault] ?? fault);
      const advice = 'Renew it, or get one for this name from a public authority, and reload the web server in front.';
      return ['problem', 'certificate-invalid', `The certificate is not valid: ${why}.`, advice];
    }
    if (validUntil === null) return ['ok', 'The certificate is valid.'];
    const days = Math.floor((validUntil - now) / DAY_MS);
    if (days < EXPIRY_DAYS) {
      const advice = 'Renew it, and find out why that did not happen by itself.';
      return [
        'warning',
        'certificate-ends-soon',
        `The certificate ends in ${days} ${days === 1 ? 'day' : 'days'}, on ${until}.`,
        advice,
      ];
    }
    return ['ok', `The certificate is valid until ${until}.`];
  };
  return toFinding('certificate', judge());
}

/** Whether guard sees that visitors use https. */
export function checkScheme(url: string | null, arrival: Arrival | null): Finding {
  const judge = (): Judgement => {
    if (url === null || arrival === null) return ['skipped', 'scheme-unknown', 'Guard did not see the visit.'];
    const { scheme, peer, isPeerTrusted } = arrival;
    const publicScheme = url.startsWith('https:') ? 'https' : 'http';
    if (scheme === publicScheme) return ['ok', `Guard and WordPress know that visitors come by ${scheme}.`];
    if (publicScheme === 'http') {
      const advice = 'Change the address in WordPress’s Settings, General, to https.';
      return [
        'warning',
        'scheme-https-address-http',
        `The visit reached guard as https, but WordPress’s address is ${url}.`,
        advice,
      ];
    }
    const advice = isPeerTrusted
      ? 'Have the proxy set X-Forwarded-Proto, for example `proxy_set_header X-Forwarded-Proto $scheme` in nginx.'
      : `Name the proxy in \`trustedProxies\` (${peer}), and have it set X-Forwarded-Proto.`;
    const message = 'Visitors come by https, but guard takes it for http, so WordPress may redirect them without end.';
    return ['problem', isPeerTrusted ? 'scheme-not-sent' : 'scheme-proxy-untrusted', message, advice];
  };
  return toFinding('scheme', judge());
}

/** A page of the site that is checked for caches. */
export interface CachedPage {
  readonly path: string;
  /** The page belongs to the login or to wp-admin. */
  readonly isPrivate: boolean;
  /** Whether an inspection at the page's address reached guard; null when it is not known. */
  readonly reachedGuard: boolean | null;
  /** Names and values of the second response's headers. */
  readonly headers: readonly (readonly [name: string, value: string])[];
}

/**
 * Whether a cache responds in place of guard, or gives one scheme the pages of the other.
 *
 * @param pages null when the public address does not reach guard
 * @param mixed a page that https visitors get as it was made for http, or null
 */
export function checkCache(pages: readonly CachedPage[] | null, mixed: MixedSchemes | null = null): Finding {
  const judge = (): Judgement => {
    if (mixed !== null) {
      const { message, advice } = describeMixedSchemes(mixed);
      return ['problem', 'cache-mixes-schemes', message, advice];
    }
    if (pages === null) return ['skipped', 'cache-unknown', 'The public address does not reach guard.'];
    const evidence = (page: CachedPage) => {
      const found = findCacheEvidence(page.headers);
      return found === null ? '' : ` (${found})`;
    };
    const isInFront = (page: CachedPage) => page.reachedGuard === false;
    const login = pages.find((page) => page.isPrivate && isInFront(page));
    if (login !== undefined) {
      const message = `A cache in front of guard answers ${login.path}${evidence(login)}: no rule for logins is asked.`;
      return [
        'problem',
        'cache-before-login',
        message,
        `Exclude ${login.path}, wp-login.php and wp-admin from the cache.`,
      ];
    }
    const page = pages.find(isInFront);
    if (page !== undefined) {
      const cookies = page.headers.some(([name]) => name.toLowerCase() === 'set-cookie');
      const message = `A cache in front of guard answers ${page.path}${evidence(page)}: blocked visitors still get it${cookies ? ', and everybody gets the same cookies' : ''}.`;
      return [
        'warning',
        'cache-before-page',
        message,
        'Put the cache behind guard, or accept that blocks do not hold for what it keeps.',
      ];
    }
    const cached = pages.find((each) => each.isPrivate && findCacheEvidence(each.headers) !== null);
    if (cached !== undefined) {
      const advice = `Exclude ${cached.path}, wp-login.php and wp-admin from the cache.`;
      return ['warning', 'cache-keeps-login', `A cache keeps ${cached.path}${evidence(cached)}.`, advice];
    }
    return ['ok', 'No cache answers in guard’s place.'];
  };
  return toFinding('cache', judge());
}

/** Headers with which caches mark a stored response, and the values that say so. */
const CACHE_HEADERS: Readonly<Record<string, RegExp>> = {
  age: /^\s*0*[1-9]\d*\s*$/,
  'cf-cache-status': /^(?:HIT|STALE|UPDATING|REVALIDATED)\b/i,
  'x-cache': /\bHIT\b/i,
  'x-cache-status': /\b(?:HIT|STALE)\b/i,
  'x-proxy-cache': /\bHIT\b/i,
  'x-fastcgi-cache': /\bHIT\b/i,
  'x-litespeed-cache': /\bhit\b/i,
  // RFC 9211.
  'cache-status': /;\s*hit\b/i,
  // Varnish names two requests when the response was stored for an earlier one.
  'x-varnish': /^\s*\d+\s+\d+\s*$/,
};

const EVIDENCE_MAX = 80;

/** The header that shows that a response came from a cache, or null. */
export function findCacheEvidence(headers: CachedPage['headers']): string | null {
  for (const [name, value] of headers) {
    if (CACHE_HEADERS[name.toLowerCase()]?.test(value)) return `${name}: ${value}`.slice(0, EVIDENCE_MAX);
  }
  return null;
}
