import { canonicalPath, foldLetters } from '../proxy/canonical-path.js';
import type { JsonValue } from '../storage/settings-store.js';

/** What stands in place of an address that is not named. */
export const HIDDEN_ADDRESS = '(log-in address)';

/** Decoding goes on for so long: addresses of redirects stand in queries, and queries in them. */
const DECODED_AT_MOST = 3;
/** Where a word of an address begins and ends: its signs are letters, digits, hyphen and underscore. */
const BEFORE = '(?<![a-z0-9_-])';
const BEHIND = '(?![a-z0-9_-])';

/** The custom log-in and sign-up addresses that a site has, and had: what leaves the site names none of them. */
export interface LoginAddresses {
  /** Whether a target or path names one, by any spelling under which the gate would know it, also in its query. */
  isIn(target: string): boolean;
  /** A text without them. Only what stands behind a slash is taken for an address: words of texts stay. */
  hideIn(text: string): string;
}

/** The same from all values that the setting `login_url` has and had. */
export function loginAddressesIn(values: readonly JsonValue[]): LoginAddresses {
  const paths = values.flatMap((value) => {
    const { login, signup } = (value ?? {}) as { readonly login?: JsonValue; readonly signup?: JsonValue };
    return [login, signup].filter((path) => typeof path === 'string');
  });
  return loginAddresses(paths);
}

/** @param paths as they are stored, for example `my-door` or `a/b`; empty ones stand for nothing */
export function loginAddresses(paths: Iterable<string>): LoginAddresses {
  const patterns = [...new Set([...paths].map((path) => path.toLowerCase()))]
    .filter((path) => /[a-z0-9]/.test(path))
    .map((path) => path.split('/').map(escaped).join('/'));
  if (patterns.length === 0) return { isIn: () => false, hideIn: (text) => text };
  const any = `(?:${patterns.join('|')})`;
  const named = new RegExp(BEFORE + any + BEHIND);
  const behindSlash = new RegExp(`/${any}${BEHIND}`, 'gi');
  return {
    isIn: (target) => spellings(target).some((text) => named.test(text)),
    hideIn: (text) => text.replace(behindSlash, HIDDEN_ADDRESS),
  };
}

/** A target as the gate reads its path, and as a whole with its query, each as often decoded as it may be encoded. */
function spellings(target: string): string[] {
  const canonical = canonicalPath(target.startsWith('/') ? target : `/${target}`);
  const texts = canonical.ok ? [canonical.path.path] : [];
  let text = target;
  for (let turn = 0; turn <= DECODED_AT_MOST; turn++) {
    texts.push(foldLetters(text).replace(/\/+(?:\.?\/+)*/g, '/'));
    const decoded = decodedOnce(text);
    if (decoded === text) break;
    text = decoded;
  }
  return texts;
}

/** Percent-decodes what can be decoded; bytes that are no UTF-8 stay as they are. */
function decodedOnce(text: string): string {
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

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
