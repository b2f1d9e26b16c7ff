import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { transform } from 'lightningcss';
import rtlcss from 'rtlcss';
import { STYLE_TARGETS } from './browsers.mjs';

/** Style sheets below `src/`, in cascade order: later ones win. */
export const SHEETS = [
  'ui/styles/tokens.css',
  'ui/styles/page.css',
  'ui/styles/controls.css',
  'ui/styles/display.css',
  'ui/styles/layers.css',
  'features/post-hack-actions/post-hack-actions.css',
  'ui/styles/responsive.css',
  'features/activity-log/activity-log.css',
  'features/activity-log/attackers.css',
  'features/security-dashboard/security-dashboard.css',
  'ui/styles/preferences.css',
];

/**
 * Writes the style sheet, and the one for right-to-left languages, which is generated from it.
 *
 * @param {string} sourceDir folder `src`
 * @param {string} outDir
 * @returns {Promise<{ style: string, style_rtl: string }>} file names
 */
export async function buildStyles(sourceDir, outDir) {
  const sheets = await Promise.all(SHEETS.map((name) => readFile(join(sourceDir, name), 'utf8')));
  const source = sheets.join('\n');
  const style = minify(source);
  const twin = minify(rtlcss.process(source));
  const base = `dashboard-${contentHash(style)}`;
  await writeFile(join(outDir, `${base}.css`), style);
  await writeFile(join(outDir, `${base}-rtl.css`), twin);
  return { style: `${base}.css`, style_rtl: `${base}-rtl.css` };
}

function minify(css) {
  return transform({
    filename: 'dashboard.css',
    code: Buffer.from(css),
    minify: true,
    targets: STYLE_TARGETS,
  }).code.toString();
}

/** Short hash of a file's content for its name, so that browsers may cache the file indefinitely. */
export function contentHash(content) {
  return createHash('sha256').update(content).digest('base64url').replace(/[-_]/g, 'x').slice(0, 8);
}
