import { expect, it } from 'vitest';
import { ATTACKER, blockedAddresses } from './blocked-addresses.js';

it('the list contains the attacker and the given number of different addresses', () => {
  const list = [...blockedAddresses(100_000)];
  expect(list).toHaveLength(100_000);
  expect(new Set(list).size).toBe(100_000);
  expect(list.filter((address) => address === ATTACKER)).toHaveLength(1);
});
