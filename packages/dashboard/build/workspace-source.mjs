import { fileURLToPath } from 'node:url';

/**
 * Alias for Vite and Vitest: the contract, and the translations in tests, are read from their sources, so that the
 * dashboard can be built and tested before they are compiled.
 */
export const workspaceSource = {
  find: /^@security-optimizer\/(contract|translations)\/(.+)$/,
  replacement: `${fileURLToPath(new URL('../../', import.meta.url))}$1/src/$2.ts`,
};
