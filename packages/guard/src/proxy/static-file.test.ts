import { expect, it } from 'vitest';
import { factsOf } from '../testing/ask.js';
import { isStaticFile } from './static-file.js';

it.each([
  '/style.css',
  '/wp-content/uploads/2026/11/photo.JPG',
  '/wp-admin/load-styles.php?c=0&load=common',
  '/blog/wp-admin/load-scripts.php',
])('takes %s for a part of a page', (path) => {
  expect(isStaticFile(factsOf(path))).toBe(true);
});

it.each([
  '/',
  '/hello-world/',
  '/wp-login.php',
  '/x.php/style.css',
  '/load-styles.php',
  '/wp-admin/index.php',
  '/robots.txt',
])('takes %s for a visit', (path) => {
  expect(isStaticFile(factsOf(path))).toBe(false);
});
