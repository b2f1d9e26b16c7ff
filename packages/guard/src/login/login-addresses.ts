import { foldCase, toCanonicalPath } from '../http/canonical-path.js';
import type { Logger } from '../lib/logger.js';
import type { JsonValue } from '../settings/audit-store.js';
import type { SiteId } from '../site.js';

/** The replacement of a redacted address. */
export const HIDDEN_ADDRESS = '(login address)';

/** Rounds of decoding: redirect targets are part of queries, and contain queries themselves. */
const MAX_DECODE_ROUNDS = 3;
/** Word boundaries of an address, whose characters are letters, digits, hyphen and underscore. */
const BEFORE = '(?<![a-z0-9_-])';
const REST_OF_PATH = '(?![a-z0-9_-])';

/**
 * The current and former custom login and sign-up addresses of a site. Data that leaves the site must contain none of
 * them.
 */
export interface LoginAddresses {
  /** Whether a target or path contains one, in any spelling that the gateway accepts, including its query. */
  isNamedIn(target: string): boolean;
  /** Redacts them in a text. Only text after a slash is treated as an address, so that ordinary words are kept. */
  redact(text: string): string;
}

/** Reads them from all current and former values of the setting `login_url`. */
export function readLoginAddresses(values: readonly JsonValue[]): LoginAddresses {
  const paths = values.flatMap((value) => {
    const { login, signup } = (value ?? {}) as { readonly login?: JsonValue; readonly signup?: JsonValue };
    return [login, signup].filter((path) => typeof path === 'string');
  });
  return createLoginAddresses(paths);
}

/**
 * Creates the matcher.
 * @param paths as they are stored, for example `my-login` or `a/b`; empty ones are ignored
 */
export function createLoginAddresses(paths: Iterable<string>): LoginAddresses {
  const patterns = [...new Set([...paths].map((path) => path.toLowerCase()))]
    .filter((path) => /[a-z0-9]/.test(path))
    .map((path) => path.split('/').map(escapeRegExp).join('/'));
  if (patterns.length === 0) return { isNamedIn: () => false, redact: (text) => text };
  const any = `(?:${patterns.join('|')})`;
  const named = new RegExp(BEFORE + any + REST_OF_PATH);
  const afterSlash = new RegExp(`/${any}${REST_OF_PATH}`, 'gi');
  return {
    isNamedIn: (target) => listSpellings(target).some((text) => named.test(text)),
    redact: (text) => text.replace(afterSlash, HIDDEN_ADDRESS),
  };
}

/** Login addresses of all sites, available synchronously. */
export interface LoginAddressCache {
  /** Whether a target names an address of the site. True for every target until the addresses have been read. */
  isNamedIn(site: SiteId, target: string): boolean;
  /** Reads the addresses again if they were used before: the site's settings may have changed. Never throws. */
  reload(site: SiteId): void;
}

/**
 * Creates the cache.
 * @param history all values that a setting of a site has had
 */
export function createLoginAddressCache(
  history: (site: SiteId, name: string) => Promise<readonly JsonValue[]>,
  logger: Logger,
): LoginAddressCache {
  const cache = new Map<SiteId, LoginAddresses>();
  /** Sites whose addresses are being read; true when their settings have changed since the read began. */
  const reading = new Map<SiteId, boolean>();

  function read(site: SiteId): void {
    if (reading.has(site)) return;
    reading.set(site, false);
    history(site, 'login_url')
      .then((values) => {
        if (reading.get(site) === false) cache.set(site, readLoginAddresses(values));
      })
      .catch((error: unknown) => {
        logger.warn({ event: 'login-addresses-read-failed', site, err: error }, 'Referers are logged without paths.');
      })
      .finally(() => reading.delete(site));
  }

  return {
    isNamedIn(site, target) {
      const addresses = cache.get(site);
      if (addresses !== undefined) return addresses.isNamedIn(target);
      read(site);
      return true;
    },
    reload(site) {
      // Unknown until the next read, since a new address must not be missed.
      if (reading.has(site)) reading.set(site, true);
      else if (cache.delete(site)) read(site);
    },
  };
}

/** The canonical path of a target, and the whole target with its query at every stage of decoding. */
function listSpellings(target: string): string[] {
  const canonical = toCanonicalPath(target.startsWith('/') ? target : `/${target}`);
  const texts = canonical.ok ? [canonical.path.path] : [];
  let text = target;
  for (let round = 0; round <= MAX_DECODE_ROUNDS; round++) {
    texts.push(foldCase(text).replace(/\/+(?:\.?\/+)*/g, '/'));
    const decoded = decodeOnce(text);
    if (decoded === text) break;
    text = decoded;
  }
  return texts;
}

/** Percent-decodes once. Bytes that are not valid UTF-8 are kept as they are. */
function decodeOnce(text: string): string {
  return text.replace(/(?:%[0-9a-f]{2})+/gi, (bytes) => {
    try {
      return decodeURIComponent(bytes);
    } catch {
      return bytes.replace(/%([0-7][0-9a-f])/gi, (_all, code: string) =>
        String.fromCharCode(Number.parseInt(code, 16)),
      );
    }
  });
}

function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
