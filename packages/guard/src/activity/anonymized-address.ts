import { type Address, addressOf } from '../lib/address.js';

/** Networks of IPv6 addresses, made once per connection. */
const networks = new WeakMap<Address, string>();

/** The address without what tells one customer from another: the last octet of IPv4, the last 80 bits of IPv6. */
export function anonymizedAddress(address: Address): string {
  if (address.family === 4) return `${address.text.slice(0, address.text.lastIndexOf('.'))}.0`;
  let text = networks.get(address);
  if (text === undefined) {
    const [first, second] = address.words;
    text = addressOf([first, (second & 0xffff0000) >>> 0, 0, 0]).text;
    networks.set(address, text);
  }
  return text;
}

/**
 * The network that an anonymised address stands for, as a CIDR range.
 * @returns null for an address that is not the first of such a network: it was not anonymised
 */
export function anonymizedNetwork(address: Address): string | null {
  if (anonymizedAddress(address) !== address.text) return null;
  return `${address.text}/${address.family === 4 ? 24 : 48}`;
}
