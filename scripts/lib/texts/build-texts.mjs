import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { compileJed, compileMo } from './compile.mjs';
import { DOMAIN, readLanguages } from './languages.mjs';
import { readMessageCodes } from './message-codes.mjs';

/**
 * Compiles each translation into the files installed in WordPress (JSON for the dashboard, MO for the connector) and
 * the JSON that guard reads. Files that are up to date are not rewritten, because another build may be reading them.
 *
 * @param {string} root folder of the repository
 */
export async function buildTexts(root) {
  const installed = new Map();
  const guards = new Map();
  const codes = await readMessageCodes(root);
  for (const [locale, catalogue] of await readLanguages(root)) {
    const isTranslated = ({ said }) => said.length > 0 && said.every((form) => form !== '');
    const translated = { ...catalogue, entries: catalogue.entries.filter(isTranslated) };
    installed.set(`${DOMAIN}-${locale}.json`, Buffer.from(compileJed(locale, translated, 'dashboard', codes)));
    installed.set(`${DOMAIN}-${locale}.mo`, compileMo(translated));
    guards.set(`${DOMAIN}-${locale}.json`, Buffer.from(compileJed(locale, translated, 'guard', [])));
  }
  await writeFolder(join(root, 'packages/connector/dist/languages'), installed);
  await writeFolder(join(root, 'packages/connector/dist/guard-languages'), guards);
}

async function writeFolder(folder, files) {
  await mkdir(folder, { recursive: true });
  for (const [name, content] of files) {
    const target = join(folder, name);
    const present = await readFile(target).catch(() => null);
    if (present?.equals(content)) continue;
    await writeFile(`${target}.${process.pid}`, content);
    await rename(`${target}.${process.pid}`, target);
  }
  for (const name of await readdir(folder)) if (!files.has(name)) await rm(join(folder, name), { force: true });
}
