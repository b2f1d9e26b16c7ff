/** Syntax that the modern build may use. The loader tests for an API of the same versions. */
export const MODERN_TARGET = ['chrome98', 'edge98', 'firefox94', 'safari15.4'];

/** Oldest browsers of the specification, section 9, in the notation of core-js. */
export const LEGACY_BROWSERS = { chrome: '58', edge: '15', firefox: '54', safari: '10', ios: '10' };

/** The same browsers for Lightning CSS: major version in the upper 16 bits, then the minor one. */
export const STYLE_TARGETS = {
  chrome: 58 << 16,
  edge: 15 << 16,
  firefox: 54 << 16,
  safari: 10 << 16,
  ios_saf: 10 << 16,
};
