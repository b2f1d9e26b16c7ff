import { hasNeededNode } from '../../packages/guard/bin/require-node.js';

/** Ends the program with a clear message when Node is too old. */
export function requireNode() {
  if (!hasNeededNode()) process.exit(1);
}
