import { BLOCKED, type Protection } from './protection.js';

/** Addresses that the owner has blocked reach nothing at all. */
export const blockedVisitors: Protection = {
  name: 'blocked-visitor',
  onError: 'allow',
  prepare({ blocked }) {
    if (blocked.size === 0) return null;
    return { check: (facts) => (blocked.has(facts.address) ? BLOCKED : null) };
  },
};
