/**
 * Vite plugin for the legacy script: the compiler of Chromium 64 crashes, and the page with it, on a function that
 * compares a type with "bigint", once that function is hot. React does so for each attribute that it sets. The
 * dashboard has no such values, so the answer is known.
 */
export function noBigint() {
  return {
    name: 'security-optimizer-no-bigint',
    transform(code, id) {
      if (!/[\\/]node_modules[\\/]react(?:-dom)?[\\/]/.test(id)) return null;
      const compared = /(?:"bigint" ([!=])== typeof [\w$]+|typeof [\w$]+ ([!=])== "bigint")/g;
      return { code: code.replace(compared, (_all, a, b) => String((a ?? b) === '!')), map: null };
    },
  };
}
