import { setTimeout as sleep } from 'node:timers/promises';
import type { ServerText } from '@security-optimizer/contract/server-message';
import { serverMessage } from '@security-optimizer/contract/server-messages';
import type { SiteConfig } from '../site.js';
import type { NewSalts, PostHackCommands, SaltHashes } from '../wordpress/connector-commands.js';

/** WordPress's schemes for signing cookies and nonces, each derived from two keys. */
const SCHEMES = ['auth', 'secure_auth', 'logged_in', 'nonce'] as const;

/** The constants of WordPress's security keys: `AUTH_KEY` and so on. */
const KEYS = ['key', 'salt'].flatMap((half) => SCHEMES.map((scheme) => `${scheme}_${half}`.toUpperCase()));

/**
 * What happened to WordPress's security keys.
 * - `replaced`: all eight have changed, in WordPress itself
 * - `partly`, `stay`: the keys in `names` are unchanged (empty when a plugin creates the keys); `rejectsOldCookies`:
 * earlier cookies are rejected nevertheless, since each is signed with two keys
 * - `kept`: no change was requested
 * - `unknown`: no new request to WordPress succeeded
 */
export type SaltsOutcome =
  | { readonly kind: 'replaced' | 'kept' | 'unknown' }
  | {
      readonly kind: 'partly' | 'stay';
      readonly names: readonly string[];
      readonly rejectsOldCookies: boolean;
      readonly cause: SaltsCause;
      /** Files in which they seem to be set. */
      readonly files: readonly string[];
    };

/** `old-file`: the new file is written, but PHP still runs the old one. `plugin`: a plugin creates the keys. */
export type SaltsCause = 'not-writable' | 'elsewhere' | 'old-file' | 'plugin';

/** Compares the keys in the request that wrote new ones with those in a later request. */
export function judgeSalts(written: Exclude<NewSalts, { change: 'kept' }>, now: SaltHashes): SaltsOutcome {
  const { before, change, elsewhere, files } = written;
  const isSame = (name: string) => (before[name] ?? null) !== null && before[name] === now[name];
  const names = KEYS.filter(isSame);
  const schemes = SCHEMES.filter(isSame);
  if (names.length === 0 && schemes.length === 0) return { kind: 'replaced' };
  const outside = names.filter((name) => elsewhere.includes(name));
  const causes: Readonly<Record<typeof change, SaltsCause>> = {
    written: 'old-file',
    not_writable: 'not-writable',
    nothing: 'elsewhere',
  };
  const cause = names.length === 0 ? 'plugin' : outside.length === names.length ? 'elsewhere' : causes[change];
  return {
    kind: names.length === KEYS.length || names.length === 0 ? 'stay' : 'partly',
    names,
    rejectsOldCookies: schemes.length === 0,
    cause,
    files: cause === 'elsewhere' ? files : [],
  };
}

/**
 * Pauses before WordPress is queried again, milliseconds: by default PHP checks for a changed file every two seconds.
 */
const PAUSES_MS = [0, 3000, 3000] as const;

/**
 * Checks in new requests to WordPress whether the keys in use have changed. When several PHP processes or machines
 * respond, the worst response of the last round counts. Never rejects: the outcome is `unknown` when no request
 * succeeds.
 */
export async function proveSalts(
  commands: Pick<PostHackCommands, 'salts'>,
  site: SiteConfig,
  written: NewSalts,
  pause: (ms: number) => Promise<unknown> = sleep,
): Promise<SaltsOutcome> {
  if (written.change === 'kept') return { kind: 'kept' };
  let outcome: SaltsOutcome = { kind: 'unknown' };
  for (const ms of PAUSES_MS) {
    if (ms > 0) await pause(ms);
    outcome = await readTwice(commands, site, written);
    const mayChange = outcome.kind === 'unknown' || ('cause' in outcome && outcome.cause === 'old-file');
    if (!mayChange) return outcome;
  }
  return outcome;
}

async function readTwice(
  commands: Pick<PostHackCommands, 'salts'>,
  site: SiteConfig,
  written: Exclude<NewSalts, { change: 'kept' }>,
): Promise<SaltsOutcome> {
  try {
    const responses = await Promise.all([commands.salts(site, written.mark), commands.salts(site, written.mark)]);
    const outcomes = responses.map((now) => judgeSalts(written, now));
    return outcomes.find(({ kind }) => kind !== 'replaced') ?? { kind: 'replaced' };
  } catch {
    return { kind: 'unknown' };
  }
}

const BY_HAND =
  'By hand: put new ones from https://api.wordpress.org/secret-key/1.1/salt/ in place of the old ones where they are set.';
const LOGGED_OUT = 'Everyone is logged out anyway, because every session has ended.';
const COOKIES_INVALID = 'Every older cookie is invalid anyway.';

const reasons: Readonly<Record<SaltsCause, string>> = {
  'not-writable': 'WordPress may not write wp-config.php.',
  elsewhere: 'They don’t come from plain text in wp-config.php, but from somewhere else, such as a file of the host.',
  'old-file':
    'New ones stand in wp-config.php, but WordPress still uses the old ones: PHP may run the old file, or something else sets the same ones first. Restart PHP, or ask your hosting provider to.',
  plugin: 'A plugin makes them, not wp-config.php.',
};

/** Describes the outcome in sentences: what is known, why, and what to do by hand. */
export function saltsSentences(outcome: SaltsOutcome): ServerText[] {
  switch (outcome.kind) {
    case 'replaced':
      return ['WordPress has new security keys, so every cookie made before is void.'];
    case 'kept':
      return ['The security keys of WordPress stay, since new ones would end your session too.'];
    case 'unknown':
      return [
        'It is not known whether WordPress has new security keys, since it could not be asked again.',
        LOGGED_OUT,
        BY_HAND,
      ];
    default: {
      const { kind, names, rejectsOldCookies, cause, files } = outcome;
      const first: ServerText =
        kind === 'stay'
          ? 'The security keys of WordPress could not be changed.'
          : serverMessage('salts_partly', { names: names.join(', ') });
      const where = files.length === 0 ? [] : [serverMessage('salts_set_in', { files: files.join(', ') })];
      const end = cause === 'old-file' || cause === 'plugin' ? [] : [BY_HAND];
      return [first, rejectsOldCookies ? COOKIES_INVALID : LOGGED_OUT, reasons[cause], ...where, ...end];
    }
  }
}
