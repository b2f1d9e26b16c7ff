import { ltr, rtl } from 'virtual:sheets';
import interExtended from '@fontsource-variable/inter/files/inter-latin-ext-wght-normal.woff2?url';
import inter from '@fontsource-variable/inter/files/inter-latin-wght-normal.woff2?url';
import mono from '@fontsource-variable/jetbrains-mono/files/jetbrains-mono-latin-wght-normal.woff2?url';
import type { ForcedState } from '../example.js';
import stageSheet from './stage.css?inline';

/** Unicode ranges of the two font files. */
const LATIN =
  'U+0000-00FF, U+0131, U+0152-0153, U+02BB-02BC, U+02C6, U+02DA, U+02DC, U+2000-206F, U+20AC, U+2122, U+2191, U+2193, U+2212, U+FEFF, U+FFFD';
const EXTENDED = 'U+0100-02BA, U+02BD-02C5, U+02C7-02CC, U+02CE-02D7, U+02DD-02FF, U+1E00-1E9F, U+1EF2-1EFF';

/**
 * Styles for reproducible screenshots: the same fonts on every machine, and wp-admin's bar at the top of the document,
 * independent of scrolling. The mail example is hidden, because its frame does not get these fonts.
 */
const PICTURE_STYLES = `
${face('Inter Variable', inter, LATIN)}
${face('Inter Variable', interExtended, EXTENDED)}
${face('JetBrains Mono Variable', mono, LATIN)}
.so { --so-font: "Inter Variable"; --so-mono: "JetBrains Mono Variable"; }
.wp-bar { position: absolute; }
iframe { visibility: hidden; }`;

/** Adds the style sheets of the dashboard, with forced states, and of the gallery. */
export async function addStyles(dir: 'ltr' | 'rtl', withTestFonts: boolean): Promise<void> {
  const own = append(dir === 'rtl' ? rtl : ltr);
  if (own.sheet !== null) addForcedStates(own.sheet);
  append(stageSheet);
  if (!withTestFonts) return;
  append(PICTURE_STYLES);
  document.body.classList.add('has-test-font');
  // Fonts load lazily; load them now.
  await Promise.all(
    ['400 14px "Inter Variable"', '400 14px "JetBrains Mono Variable"'].map((font) => document.fonts.load(font, 'aš')),
  );
}

function append(text: string): HTMLStyleElement {
  const style = document.createElement('style');
  style.textContent = text;
  document.head.append(style);
  return style;
}

function face(family: string, url: string, range: string): string {
  return `@font-face { font-family: "${family}"; font-weight: 100 900; src: url("${url}") format("woff2"); unicode-range: ${range}; }`;
}

const CLASS = { hover: 'force-hover', focus: 'force-focus', active: 'force-active' } as const;

/** Copies each rule with `:hover`, `:focus` or `:active` to a rule with a class instead, right after the original. */
function addForcedStates(rules: CSSStyleSheet | CSSMediaRule): void {
  for (let at = rules.cssRules.length - 1; at >= 0; at--) {
    const rule = rules.cssRules[at];
    if (rule instanceof CSSMediaRule) addForcedStates(rule);
    if (!(rule instanceof CSSStyleRule) || !/:(?:hover|focus|active)/.test(rule.selectorText)) continue;
    const selector = rule.selectorText
      .replace(/:focus-visible|:focus/g, `.${CLASS.focus}`)
      .replace(/:hover/g, `.${CLASS.hover}`)
      .replace(/:active/g, `.${CLASS.active}`);
    rules.insertRule(`${selector} { ${rule.style.cssText} }`, at + 1);
  }
}

/** @throws Error if no element matches */
export function force(part: Element, { state, on }: ForcedState): void {
  const element = part.querySelector(on);
  if (element === null) throw new Error(`There is no ${on} to force the state ${state} on.`);
  element.classList.add(CLASS[state]);
}
