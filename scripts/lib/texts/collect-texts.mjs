import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findPhpTable, findPhpTexts } from './find-php-texts.mjs';
import { findScriptTexts } from './find-script-texts.mjs';
import { readMessageCodes } from './message-codes.mjs';

/**
 * The source files with texts for people. Texts that guard and the contract send to the dashboard travel in English and
 * are translated there; guard translates its own pages and mails.
 */
/** Literals in those sources that look like texts but are names, styles, or meant for a log or a programmer. */
const NOT_FOR_PEOPLE = [
  'A call of the API failed.',
  'A call of the API failed; further ones that fail like this one are not logged.',
  'The API can’t be made; the gateway itself goes on.',
  'Pinterestbot',
  'YandexBot',
  'EBADNAME',
  'EBADRESP',
  'ENODATA',
  'ENOTFOUND',
  'GET',
  'POST',
  'HEAD',
  'PUT',
  'DELETE',
  'PATCH',
  'OPTIONS',
  'CONNECT',
  'TRACE',
  'PROPFIND',
  'REPORT',
  'Send a JSON object.',
  'Visits are written again.',
  'Use a time after from.',
  'Use the cursor of an answer.',
  'Cốc Cốc',
  'Internet Archive',
  'WordPress',
  'WordPress; http',
  'Menlo, Consolas, monospace',
];
const VISITOR_PAGES = /\/(?:visitor-pages|login-closed-pages|notices)\.tsx?$/;
const RESPONSES =
  /\/src\/(?:(?:api|overview|post-hack|site-security|settings|login|two-factor|activity|reports|mail)\/(?!.*(?:store|table|schema|migration)[^/]*$)[\w/-]+|alerts\/(?:safe-target|webhook|syslog|endpoints|deliver-alerts)|wordpress\/connector-error)\.ts$/;
const SOURCES = [
  { folder: 'packages/dashboard/src', files: /\.tsx?$/, how: 'calls' },
  {
    folder: 'packages/contract/src',
    files:
      /\/src\/(?:settings\/(?:protections|simple-settings)|activity\/(?:event-kinds|event-values|rule-reasons)|login\/limits|overview\/technical-data|pages|server-message|messages|errors)\.ts$/,
    how: 'sentences',
  },
  // Texts that guard's own pages and mails translate, in any file.
  { folder: 'packages/guard/src', files: /\.tsx?$/, how: 'calls' },
  { folder: 'packages/guard/src', files: VISITOR_PAGES, how: 'sentences' },
  // Constant texts of responses; those with values are in the contract.
  { folder: 'packages/guard/src', files: RESPONSES, how: 'sentences' },
  { folder: 'packages/connector/security-optimizer', files: /\.php$/, how: 'php' },
  // Names of settings in events: they travel in English, like guard's texts.
  { folder: 'packages/connector/security-optimizer', files: /\/activity\/class-settings\.php$/, how: 'php-table' },
];

/**
 * Collects every translated text of the product once, with the files that contain it.
 *
 * @param {string} root folder of the repository
 * @returns {Promise<{ text: string, plural: string | null, files: string[] }[]>} in a stable order
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
  for (const { code, text, plural } of await readMessageCodes(root)) {
    note(texts, { text, plural, file: 'packages/contract/src/server-messages.ts' });
    texts.get(text).code = code;
  }
  for (const text of NOT_FOR_PEOPLE) {
    if (!texts.delete(text)) throw new Error(`No source holds “${text}” any more: take it out of NOT_FOR_PEOPLE.`);
  }
  texts.delete('');
  // Sorted by text, so that moving code changes only references.
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
