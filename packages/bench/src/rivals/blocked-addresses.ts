/** Source address of the load. */
export const ATTACKER = '127.0.0.1';

/** A list of different blocked addresses: the attacker, and others from all of IPv4. */
export function* blockedAddresses(count: number, attacker = ATTACKER): Generator<string> {
  yield attacker;
  for (let number = 1, made = 1; made < count; number++) {
    // Multiplication by an odd number permutes the 32-bit numbers. This factor spreads them (Knuth, section 6.4).
    const value = Math.imul(number, 2_654_435_761) >>> 0;
    const address = [24, 16, 8, 0].map((shift) => (value >>> shift) & 255).join('.');
    if (address === attacker) continue;
    made++;
    yield address;
  }
}
