import type { Attack } from '../attack.js';
import { edgeAttacks } from './edge.js';
import { hiddenLoginAttacks } from './hidden-login.js';
import { legitimateTraffic } from './legitimate.js';
import { passwordAttacks } from './passwords.js';
import { addressAttacks, productAttacks } from './product.js';
import { secondFactorAttacks } from './second-factor.js';
import { spellingAttacks } from './spellings.js';

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
