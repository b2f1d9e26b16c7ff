import type { RequestFacts } from './request-facts.js';

/** Endings of files that pages are made of and that a web server sends by itself. */
const STATIC =
  /\.(?:css|js|mjs|map|png|jpe?g|gif|webp|avif|svg|ico|bmp|woff2?|ttf|otf|eot|mp[34]|m4[av]|webm|og[gv]|wav|pdf|wasm)$/;

/** Scripts that join WordPress's own styles and scripts into one file. They start no WordPress, so none vouches. */
const JOINED = new Set(['load-styles.php', 'load-scripts.php']);

/** Whether a path ends like a file of a page. Whether it is one shows in the answer: PHP makes none. */
export function isStaticFile({ segments, scriptAt }: Pick<RequestFacts, 'segments' | 'scriptAt'>): boolean {
  const name = segments[segments.length - 1];
  if (name === undefined) return false;
  return scriptAt === -1 ? STATIC.test(name) : JOINED.has(name) && segments[segments.length - 2] === 'wp-admin';
}
