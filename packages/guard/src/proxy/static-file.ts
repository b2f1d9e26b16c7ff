import type { RequestFacts } from './request-facts.js';

/** Endings of files that pages are made of and that a web server sends by itself. */
const STATIC =
  /\.(?:css|js|mjs|map|png|jpe?g|gif|webp|avif|svg|ico|bmp|woff2?|ttf|otf|eot|mp[34]|m4[av]|webm|og[gv]|wav|pdf|wasm)$/;

/** Whether a path ends like a file of a page. Whether it is one shows in the answer: PHP makes none. */
export function isStaticFile({ segments, scriptAt }: Pick<RequestFacts, 'segments' | 'scriptAt'>): boolean {
  const name = segments[segments.length - 1];
  return name !== undefined && scriptAt === -1 && STATIC.test(name);
}
