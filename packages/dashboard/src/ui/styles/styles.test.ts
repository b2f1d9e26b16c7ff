import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import postcss, { type AtRule, type Rule } from 'postcss';
import { describe, expect, it } from 'vitest';

const folder = join(import.meta.dirname, '../..');
const sheets = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.css'))
  .map((name) => ({ name, root: postcss.parse(readFileSync(join(folder, name), 'utf8')) }));

/** Selectors of the product: its root, alone or with descendants, optionally after the direction of the page. */
const SCOPED = /^(?:\[dir="rtl"\] )?\.so(?:$|[ .])/;
/** Features that the oldest browsers lack, or that right-to-left pages can't mirror. */
const NEW_PROPERTIES =
  /^(?:gap|row-gap|column-gap|inset|aspect-ratio|all|grid.*|(?:margin|padding|border)-(?:inline|block).*)$/;
const NEW_VALUES = /\b(?:grid|color-mix|clamp|min|max)\(|\bgrid\b|#[0-9a-f]{8}\b/i;
const NEW_SELECTORS = /:(?:is|where|has|focus-within)\b/;

function isInKeyframes(rule: Rule): boolean {
  return rule.parent?.type === 'atrule' && (rule.parent as AtRule).name === 'keyframes';
}

describe.each(sheets)('the style sheet $name', ({ root }) => {
  it('affects nothing outside the dashboard', () => {
    const stray: string[] = [];
    root.walkRules((rule) => {
      if (!isInKeyframes(rule)) stray.push(...rule.selectors.filter((selector) => !SCOPED.test(selector)));
    });
    root.walkAtRules('keyframes', (rule) => {
      if (!rule.params.startsWith('so-')) stray.push(rule.params);
    });
    expect(stray).toEqual([]);
  });

  it('uses only features of the oldest browsers', () => {
    const found: string[] = [];
    root.walkDecls(({ prop, value }) => {
      if (NEW_PROPERTIES.test(prop) || NEW_VALUES.test(value)) found.push(`${prop}: ${value}`);
    });
    root.walkRules(({ selector }) => {
      if (NEW_SELECTORS.test(selector)) found.push(selector);
    });
    expect(found).toEqual([]);
  });

  it('keeps :focus-visible in separate rules, because an unknown selector invalidates its whole list', () => {
    root.walkRules(({ selectors }) => {
      const known = selectors.filter((selector) => !selector.includes(':focus-visible'));
      if (known.length > 0) expect(known).toHaveLength(selectors.length);
    });
  });
});
