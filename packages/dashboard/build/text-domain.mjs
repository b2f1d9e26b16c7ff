/**
 * Vite plugin that leaves the text domain out of `__( 'Text', 'security-optimizer' )`. It stands in hundreds of calls,
 * for the tools that collect texts from the sources; `src/i18n/translate.ts` knows it anyway.
 */
export function textDomain() {
  return {
    name: 'security-optimizer-text-domain',
    enforce: 'pre',
    transform(code, id) {
      if (!/\/src\/.+\.tsx?$/.test(id)) return null;
      return { code: code.replace(/,\s*'security-optimizer',?(?=\s*\))/g, ''), map: null };
    },
  };
}
