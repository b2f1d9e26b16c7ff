/** Names of parameters with secret values: passwords, keys, tokens, nonces, access codes. */
const SECRET_NAME =
  /pass|pwd|secret|token|nonce|(?:^|[_.-])(?:key|sig|otp|jwt|pin|code|auth|sid)(?:$|[_.[-]|%5b)|apikey|signature|session|credential/i;
/** WordPress's names of secrets that the pattern can't match without matching harmless names. */
const SECRET_NAMES: ReadonlySet<string> = new Set([
  'pw',
  'log',
  '_wpnonce',
  'rp_key',
  'activation_key',
  'hash',
  'p_hash',
]);
const NAME_LENGTH = 64;

/** The replacement of a secret. */
const MASK = '***';

/**
 * Replaces secret values in the query of a target or URL: the whole value of each parameter whose name says that it is
 * a password, key, token or nonce.
 * @param target any length; one without a query is returned unchanged
 */
export function maskSecrets(target: string): string {
  const start = target.indexOf('?');
  if (start === -1) return target;
  let masked = '';
  let copied = 0;
  for (let at = start + 1; at <= target.length; ) {
    const next = endOfPair(target, at);
    const equals = target.indexOf('=', at);
    if (equals !== -1 && equals < next && equals + 1 < next && isSecret(target.slice(at, equals))) {
      masked += target.slice(copied, equals + 1) + MASK;
      copied = next;
    }
    at = next + 1;
  }
  return copied === 0 ? target : masked + target.slice(copied);
}

function endOfPair(target: string, from: number): number {
  for (let at = from; at < target.length; at++) {
    const code = target.charCodeAt(at);
    // & and ;
    if (code === 38 || code === 59) return at;
  }
  return target.length;
}

function isSecret(name: string): boolean {
  const short = name.slice(0, NAME_LENGTH);
  return (
    SECRET_NAMES.has(short.toLowerCase()) ||
    SECRET_NAME.test(short) ||
    (short.includes('%') && SECRET_NAME.test(decode(short)))
  );
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const REFERER = /^(https?:\/\/)(?:[^/?#@]*@)?([^/?#@]{1,250})([^#]*)/i;

/**
 * Returns a referer as it is stored: without user name, password and fragment, with secrets masked, and without its
 * path when that names a login address; null when it is no web address.
 */
export function cleanReferer(referer: string, namesLogin: (target: string) => boolean): string | null {
  const [, scheme, host, target] = REFERER.exec(referer) ?? [];
  if (scheme === undefined || host === undefined || target === undefined) return null;
  const origin = `${scheme}${host}`.toLowerCase();
  return target === '' || namesLogin(target) ? `${origin}/` : `${origin}${maskSecrets(target)}`;
}
