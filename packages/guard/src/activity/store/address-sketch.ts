const BITS = 10;
const REGISTERS = 2 ** BITS;

/**
 * Estimates the number of different values that were added, in 1 KB whatever their number (Flajolet, Fusy, Gandouet,
 * Meunier: "HyperLogLog", 2007): within 3 % in two of three cases, and nearly exact for some dozen.
 */
export class AddressSketch {
  readonly #registers: Uint8Array;
  #changed = false;

  constructor(registers?: Uint8Array) {
    this.#registers = new Uint8Array(REGISTERS);
    if (registers?.length === REGISTERS) this.#registers.set(registers);
  }

  add(value: string): void {
    const hash = hashText(value);
    const register = hash >>> (32 - BITS);
    // The position of the first one bit after those that selected the register.
    const rank = Math.clz32((hash << BITS) | (1 << (BITS - 1))) + 1;
    if (rank <= (this.#registers[register] as number)) return;
    this.#registers[register] = rank;
    this.#changed = true;
  }

  /** Returns the registers when values were added since the last call that changed them; else null. */
  takeChanges(): Uint8Array | null {
    if (!this.#changed) return null;
    this.#changed = false;
    return this.#registers.slice();
  }
}

/** Estimates the number of different values in several sketches together. */
export function estimateDistinct(sketches: readonly Uint8Array[]): number {
  let sum = 0;
  let empty = 0;
  for (let i = 0; i < REGISTERS; i++) {
    let highest = 0;
    for (const registers of sketches) highest = Math.max(highest, registers[i] ?? 0);
    sum += 2 ** -highest;
    if (highest === 0) empty++;
  }
  const estimate = ((0.7213 / (1 + 1.079 / REGISTERS)) * REGISTERS * REGISTERS) / sum;
  // A small number is estimated better from the registers that are still empty (linear counting).
  return Math.round(estimate <= 2.5 * REGISTERS && empty > 0 ? REGISTERS * Math.log(REGISTERS / empty) : estimate);
}

/** Returns 32 bits that look random: FNV-1a with the last steps of MurmurHash3, which distribute it over all bits. */
function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
