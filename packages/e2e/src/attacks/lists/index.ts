import type { Attack } from '../attack.js';
import { edgeAttacks } from './edge.js';
import { hiddenLoginAttacks } from './hidden-login.js';
import { legitimateTraffic } from './legitimate.js';
import { passwordAttacks } from './passwords.js';
import { addressAttacks, productAttacks } from './product.js';
import { secondFactorAttacks } from './second-factor.js';
import { shortSpellingAttacks, spellingAttacks } from './spellings.js';

/** All attacks. Those on passwords come last, because they lock out the address that they come from. */
export const attacks: readonly Attack[] = [
  ...spellingAttacks,
  ...edgeAttacks,
  ...addressAttacks,
  ...hiddenLoginAttacks,
  ...productAttacks,
  ...secondFactorAttacks,
  ...legitimateTraffic,
  ...passwordAttacks,
];

/**
 * The short form, for a site behind several servers in turn: what may differ between servers on the way to guard. Without
 * a body of two lengths, for whose rest some of them wait a minute.
 */
export const shortAttacks: readonly Attack[] = [
  ...shortSpellingAttacks,
  ...addressAttacks,
  ...legitimateTraffic.filter(({ name }) => !name.includes('two lengths')),
];
