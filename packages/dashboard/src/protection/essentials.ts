import { type SecurityField, siteSecurityToggles } from '@security-optimizer/contract/protections';
import type { KnownLoginOptions } from '../options/read-login-options.js';

export interface EssentialsCount {
  readonly on: number;
  /** Essentials whose state is known. */
  readonly total: number;
}

type Values = Readonly<Partial<Record<SecurityField, 0 | 1>>>;

/** Counts the essentials of Site Security whose value is known, and how many of them are on. */
export function countSecurityEssentials(values: Values): EssentialsCount {
  const known = siteSecurityToggles.filter(({ essential, field }) => essential && values[field] !== undefined);
  return { on: known.filter(({ field }) => values[field] === 1).length, total: known.length };
}

/** Counts the essentials of Login Security: custom address, second factor, common usernames, limited attempts. */
export function countLoginEssentials(options: KnownLoginOptions): EssentialsCount {
  const { login_url, sg2fa, disable_usernames } = options;
  const states = [
    login_url && isCustomLoginUrl(options),
    sg2fa,
    disable_usernames,
    options.login_attempts && selectedAttempts(options) > 0,
  ].filter((state) => state !== undefined);
  return { on: states.filter(Boolean).length, total: states.length };
}

/** Whether the login is at an address of the owner's own. */
export function isCustomLoginUrl({ login_url = [] }: KnownLoginOptions): boolean {
  return login_url.some(({ type, selected }) => type === 'custom' && Number(selected) === 1);
}

/** Failed log-ins until an address waits; 0 when the limit is off. */
export function selectedAttempts({ login_attempts = [] }: KnownLoginOptions): number {
  return login_attempts.find(({ selected }) => Number(selected) === 1)?.value ?? 0;
}

/** The label 'recommended' belongs to an essential that is off. */
export function isRecommended(toggle: { readonly essential: boolean }, value: 0 | 1): boolean {
  return toggle.essential && value === 0;
}
