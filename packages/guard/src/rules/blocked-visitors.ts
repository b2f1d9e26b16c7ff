import { BLOCKED, type Rule } from './rule.js';

/** Refuses every request from an address that the owner has blocked. */
export const blockedVisitors: Rule = {
  name: 'blocked-visitor',
  onError: 'allow',
  compile({ blocked, blockedUntil }) {
    if (blockedUntil !== undefined && blockedUntil.size > 0) {
      return {
        check: ({ address, now }) => (blocked.has(address) || blockedUntil.has(address, now) ? BLOCKED : null),
      };
    }
    if (blocked.size === 0) return null;
    return { check: (facts) => (blocked.has(facts.address) ? BLOCKED : null) };
  },
};
