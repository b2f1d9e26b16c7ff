/**
 * Packages that make things when they are loaded which the dashboard does not use, and do not say that this can be left
 * out: WordPress's i18n makes an instance of its own with WordPress's hooks.
 */
const PURE = /[\\/]node_modules[\\/]@wordpress[\\/](?:i18n|hooks)[\\/]/;

/** For Rolldown: whether a module that nothing is used of must be kept. */
export const treeshake = { moduleSideEffects: (id) => !PURE.test(id) };
