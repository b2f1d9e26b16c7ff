import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findPhpTable, findPhpTexts } from './find-php-texts.mjs';
import { findScriptTexts } from './find-script-texts.mjs';

/**
 * Where texts for people stand. What guard and the contract say to the dashboard is English on its way and looked up
 * there; guard's own pages and mails are translated by guard.
 */
const SOURCES = [
  { folder: 'packages/dashboard/src', files: /\.tsx?$/, how: 'calls' },
  {
    folder: 'packages/contract/src',
    files:
      /\/(?:protections|pages|activity-kinds|event-values|say-phrase|messages|login-limits|errors|event-sentence|post-hack-\w+)\.ts$/,
    how: 'sentences',
  },
  { folder: 'packages/guard/src/api', files: /-handlers\.ts$/, how: 'sentences' },
  { folder: 'packages/guard/src/overview', files: /\.ts$/, how: 'sentences' },
  { folder: 'packages/guard/src/post-hack', files: /\.ts$/, how: 'sentences' },
  { folder: 'packages/guard/src/site-security', files: /\/set-[\w-]+\.ts$/, how: 'sentences' },
  { folder: 'packages/guard/src/login', files: /\/login\/[\w-]+\.ts$/, how: 'sentences' },
  {
    folder: 'packages/guard/src/activity',
    files:
      /\/(?:set-log-settings|filters|unknown-visits|registered-events|block-\w+|do-not-block|find-visitor|unblock-login|visitor-\w+|audit-words)\.ts$/,
    how: 'sentences',
  },
  { folder: 'packages/guard/src/pages', files: /\/(?:visitor-pages|login-pages|notices)\.tsx?$/, how: 'sentences' },
  { folder: 'packages/guard/src/pages', files: /\.tsx?$/, how: 'calls' },
  { folder: 'packages/guard/src/proxy', files: /\.ts$/, how: 'calls' },
  { folder: 'packages/guard/src/login/two-factor', files: /\.ts$/, how: 'calls' },
  { folder: 'packages/guard/src/activity/weekly-report', files: /\.tsx?$/, how: 'calls' },
  // Why a mail did not leave.
  { folder: 'packages/guard/src/mail', files: /-mailer\.ts$/, how: 'calls' },
  { folder: 'packages/guard/src/wordpress', files: /\/connector-error\.ts$/, how: 'calls' },
  { folder: 'packages/connector/security-optimizer', files: /\.php$/, how: 'php' },
  // Names of settings in events: English on their way, like what guard says.
  { folder: 'packages/connector/security-optimizer', files: /\/class-activity-settings\.php$/, how: 'php-table' },
];

/**
 * Every text of the product that is translated, each once, with the files that hold it.
 *
 * @param {string} root folder of the repository
 * @returns {Promise<{ text: string, plural: string | null, files: string[] }[]>} in a steady order
 */
export async function collectTexts(root) {
  const texts = new Map();
  for (const { folder, files, how } of SOURCES) {
    for (const name of await filesBelow(root, folder)) {
      if (!files.test(name) || /\.test\.tsx?$/.test(name)) continue;
      const source = await readFile(join(root, name), 'utf8');
      const found = how.startsWith('php') ? findPhp[how](name, source) : findScriptTexts(name, source, how);
      for (const text of found) note(texts, text);
    }
  }
  texts.delete('');
  // By the text, so that code that moves changes only its references.
  return [...texts.values()].sort((a, b) => (a.text < b.text ? -1 : 1));
}

const findPhp = { php: findPhpTexts, 'php-table': findPhpTable };

function note(texts, { text, plural, file }) {
  const known = texts.get(text) ?? { text, plural: null, files: [] };
  if (plural !== null && known.plural !== null && plural !== known.plural) {
    throw new Error(`“${text}” has two plurals: “${known.plural}” and “${plural}”.`);
  }
  known.plural ??= plural;
  if (!known.files.includes(file)) known.files.push(file);
  texts.set(text, known);
}

async function filesBelow(root, folder) {
  const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) =>
      join(entry.parentPath, entry.name)
        .slice(root.length + 1)
        .replaceAll('\\', '/'),
    )
    .sort();
}
