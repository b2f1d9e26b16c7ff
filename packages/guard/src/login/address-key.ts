import { type Address, addressOf } from '../lib/address.js';

/** Keys of IPv6 addresses, made once per connection. */
const keys = new WeakMap<Address, string>();

/**
 * Whom failures are counted for: an IPv4 address, or the /64 of an IPv6 one, since every customer has at least a whole
 * /64 (RFC 6177). Text that `parseRange` understands: `192.0.2.1`, `2001:db8:0:1::/64`.
 */
export function addressKey(address: Address): string {
  if (address.family === 4) return address.text;
  let key = keys.get(address);
  if (key === undefined) {
    key = `${addressOf([address.words[0], address.words[1], 0, 0]).text}/64`;
    keys.set(address, key);
  }
  return key;
}

/** Whether a lock of this key keeps an address out, as against a device, or what other sites' pages send. */
export function isAddressKey(key: string): boolean {
  return !/^(?:device|other-sites):/.test(key);
}
