import { fileURLToPath } from 'node:url';

/**
 * Alias for Vite and Vitest: the contract is read from its source, so that the dashboard can be built and
 * tested before the contract's own build has run.
 */
export const contractSource = {
  find: /^@security-optimizer\/contract\/(.+)$/,
  replacement: `${fileURLToPath(new URL('../../contract/src/', import.meta.url))}$1.ts`,
};
