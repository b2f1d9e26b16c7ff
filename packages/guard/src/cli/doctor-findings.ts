/** What `doctor` can report about a site. */

/** Parts of a site that are checked, in the order of the report. */
export type CheckName =
  | 'guard'
  | 'entry'
  | 'key'
  | 'settings'
  | 'database'
  | 'connector'
  | 'policy'
  | 'redirects'
  | 'direct-requests'
  | 'public-address'
  | 'client-address'
  | 'server-behind'
  | 'https'
  | 'certificate'
  | 'scheme'
  | 'clock'
  | 'cache'
  | 'permissions'
  | 'disk'
  | 'mail';

/** `skipped`: the check was not possible; the message says why. */
export type CheckState = 'ok' | 'warning' | 'problem' | 'skipped';

/**
 * One code for each fault, and for each reason why a check is skipped. `doctor-faults.test.ts` has a test for every
 * code.
 */
export const FINDING_CODES = [
  'guard-stopped',
  'guard-silent',
  'guard-serves-others',
  'guard-quarantines',
  'entry-unusable',
  'key-unusable',
  'settings-unusable',
  'database-unusable',
  'database-other',
  'database-not-encrypted',
  'database-not-verified',
  'database-password-readable',
  'connector-version',
  'connector-missing',
  'connector-key',
  'connector-redirected',
  'connector-unreachable',
  'policy-paused',
  'policy-unknown',
  'policy-outdated',
  'redirect-loop',
  'redirects-address-unknown',
  'redirects-no-response',
  'direct-no-response',
  'direct-allowed',
  'direct-server-error',
  'direct-redirected',
  'direct-answered',
  'direct-cache',
  'address-unknown',
  'address-other-guard',
  'address-refused-by-wordpress',
  'address-past-guard',
  'address-other-server',
  'address-no-response',
  'client-unknown',
  'client-forgeable',
  'client-forgeable-here',
  'client-not-named',
  'client-private',
  'client-proxy-untrusted',
  'client-perhaps-proxy',
  'server-hides-visitors',
  'server-open-page',
  'server-unknown',
  'https-address-unknown',
  'https-not-used',
  'https-no-redirect',
  'certificate-not-seen',
  'certificate-invalid',
  'certificate-ends-soon',
  'scheme-unknown',
  'scheme-https-address-http',
  'scheme-not-sent',
  'scheme-proxy-untrusted',
  'clock-unknown',
  'clock-differs',
  'clock-signatures-refused',
  'cache-unknown',
  'cache-before-login',
  'cache-before-page',
  'cache-keeps-login',
  'cache-mixes-schemes',
  'files-folder-writable',
  'files-guard-user',
  'files-foreign-owner',
  'files-readable',
  'files-folder-unknown',
  'files-no-access',
  'files-unusable',
  'files-missing',
  'files-incomplete',
  'files-other-key',
  'files-key-readable',
  'files-writable',
  'files-connector-owner',
  'files-unreadable',
  'files-shared',
  'disk-unknown',
  'disk-low',
  'disk-full',
  'mail-server',
  'mail-not-sent',
] as const;

export type FindingCode = (typeof FINDING_CODES)[number];

export interface Finding {
  readonly check: CheckName;
  readonly state: CheckState;
  /** Null for a check without a fault. */
  readonly code: FindingCode | null;
  /** One or two sentences. */
  readonly message: string;
  /** What to do; null when there is nothing to do. */
  readonly advice: string | null;
}

/** A finding without the name of its check. */
export type Judgement =
  | readonly [state: 'ok', message: string]
  | readonly [state: Exclude<CheckState, 'ok'>, code: FindingCode, message: string, advice?: string];

/** Adds the name of the check to a judgement. */
export function toFinding(check: CheckName, judgement: Judgement): Finding {
  if (judgement[0] === 'ok') return { check, state: 'ok', code: null, message: judgement[1], advice: null };
  const [state, code, message, advice] = judgement;
  return { check, state, code, message, advice: advice ?? null };
}
