import { __ } from '../i18n/translate.js';
import type { EssentialsCount } from './essentials.js';

export interface Verdict {
  readonly text: string;
  /** Colour of the ring. */
  readonly state: 'ok' | 'warn' | 'danger';
}

/** What the number of essentials that are on says about the site, out of ten. */
export function verdictOf({ on, total }: EssentialsCount): Verdict {
  if (on === total) return { text: __('Fully protected', 'security-optimizer'), state: 'ok' };
  if (on >= 7) return { text: __('Well protected', 'security-optimizer'), state: 'ok' };
  if (on >= 4) return { text: __('Partly protected', 'security-optimizer'), state: 'warn' };
  return { text: __('At risk', 'security-optimizer'), state: 'danger' };
}
