/**
 * Checks that words which the project has given up for standard ones (docs/developer/glossary.md) do not come back, in names of
 * files, names in the code, comments, titles of tests and documents. Part of `npm run lint`.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './lib/run.mjs';
import { findFormerWords } from './lib/words.mjs';

/** Records of what had other names, and the list itself. */
const EXEMPT = /^(?:docs\/decisions\/(?:0003|0048)|scripts\/lib\/words|packages\/translations\/languages)/;

const files = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8', maxBuffer: 2 ** 26 })
  .split('\n')
  .filter((file) => /\.(?:ts|tsx|mts|mjs|php|md)$/.test(file) && !EXEMPT.test(file));
const findings = files.flatMap((file) => [
  ...findFormerWords(`${file}.name`, file.replaceAll('/', '\n')),
  ...findFormerWords(file, readFileSync(join(root, file), 'utf8')),
]);
for (const { file, line, text, use } of findings) {
  console.error(`${file.replace(/\.name$/, '')}:${line}: “${text.trim()}” is gone; use: ${use}`);
}
if (findings.length > 0) process.exitCode = 1;
