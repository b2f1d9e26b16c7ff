import { __, sprintf } from '../i18n/translate.js';
import type { EssentialsCount } from '../protection/essentials.js';
import { Meter } from './meter.js';

/** How many essentials of a section are on. */
export function EssentialsMeter({ on, total }: EssentialsCount) {
  return <Meter on={on} total={total} label={essentialsText({ on, total })} />;
}

export function essentialsText({ on, total }: EssentialsCount): string {
  return sprintf(
    /* translators: 1: essentials that are on, 2: all essentials */
    __('%1$d of %2$d essentials on', 'security-optimizer'),
    on,
    total,
  );
}
