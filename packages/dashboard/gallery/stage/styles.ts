import { ltr, rtl } from 'virtual:sheets';
import interExtended from '@fontsource-variable/inter/files/inter-latin-ext-wght-normal.woff2?url';
import inter from '@fontsource-variable/inter/files/inter-latin-wght-normal.woff2?url';
import mono from '@fontsource-variable/jetbrains-mono/files/jetbrains-mono-latin-wght-normal.woff2?url';
import { addForcedStates } from './forced-states.js';
import stageSheet from './stage.css?inline';

/** The letters of the two files, as the font's maker divided them. */
const LATIN =
  'U+0000-00FF, U+0131, U+0152-0153, U+02BB-02BC, U+02C6, U+02DA, U+02DC, U+2000-206F, U+20AC, U+2122, U+2191, U+2193, U+2212, U+FEFF, U+FFFD';
const EXTENDED = 'U+0100-02BA, U+02BD-02C5, U+02C7-02CC, U+02CE-02D7, U+02DD-02FF, U+1E00-1E9F, U+1EF2-1EFF';

/**
 * One font on every machine, so that a picture of a text is the same on all of them. The example of a mail lies in a
 * frame of its own, which no font of ours reaches: it is left out.
 */
const TEST_FONTS = `
${face('Inter Variable', inter, LATIN)}
${face('Inter Variable', interExtended, EXTENDED)}
${face('JetBrains Mono Variable', mono, LATIN)}
.so { --so-font: "Inter Variable"; --so-mono: "JetBrains Mono Variable"; }
iframe { visibility: hidden; }`;

/** Adds the dashboard's own sheet, with the states that are forced, and that of the gallery. */
export async function addStyles(dir: 'ltr' | 'rtl', withTestFonts: boolean): Promise<void> {
  const own = append(dir === 'rtl' ? rtl : ltr);
  if (own.sheet !== null) addForcedStates(own.sheet);
  append(stageSheet);
  if (!withTestFonts) return;
  append(TEST_FONTS);
  document.body.classList.add('has-test-font');
  // A font is fetched when a text first needs it; here it must be there before.
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
