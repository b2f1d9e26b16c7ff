import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { checkBudget } from './budget.mjs';
import { buildLegacy } from './legacy.mjs';
import { buildLoader } from './loader.mjs';
import { buildModern } from './modern.mjs';
import { buildStyles } from './styles.mjs';

/**
 * Builds everything that the connector serves into dist/: styles and their right-to-left twin, the modern and the
 * legacy script, the loader that picks one of them, the icons, and entrypoints.json with the names of the files.
 */
// A test that builds what it needs says `test` here, and would get the development version of React.
process.env.NODE_ENV = 'production';
const root = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '');
const outDir = join(root, 'dist');

await rm(outDir, { recursive: true, force: true });
await mkdir(outDir, { recursive: true });
await cp(join(root, 'src/icons/svg'), join(outDir, 'icons'), { recursive: true });
const styles = await buildStyles(join(root, 'src/styles'), outDir);
const modern = await buildModern(root, outDir);
const legacy = await buildLegacy(root, outDir);
const files = { modern: modern.entry, legacy, pages: modern.pages };
const calls = JSON.parse(await readFile(join(root, 'src/early/early-calls.json'), 'utf8'));
const loader = await buildLoader(join(root, 'src/loader-script/loader.js'), outDir, { ...files, calls });
await writeFile(join(outDir, 'entrypoints.json'), `${JSON.stringify({ ...styles, loader, ...files }, null, 2)}\n`);
await checkBudget(outDir, { loader, ...files });
