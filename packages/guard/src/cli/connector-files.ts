import { createHash } from 'node:crypto';
import { readdir, readFile, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { packageFolder } from '../lib/package-folder.js';
import { writeFileAtomically } from '../lib/write-file-atomically.js';
import {
  accessLike,
  connectorFolder,
  makeSiteFolder,
  type WordPressFolders,
  writeConnectorSecret,
} from '../wordpress/connector-secret.js';
import { CommandError } from './command.js';

const LOADER = 'security-optimizer.php';
/** Folder of the connector's classes among the sources. Installed, it has a name of its own for each content. */
const CLASSES = 'includes';

interface SourceFile {
  readonly from: string;
  /** Path below the connector's folder. */
  readonly to: string;
}

/** The files to install, found and checked before anything is written. */
export interface ConnectorSources {
  readonly loader: string;
  readonly files: readonly SourceFile[];
}

/**
 * Finds the connector, its translations and the built dashboard among the installed packages.
 * @throws CommandError when a part is missing
 */
export async function findConnectorSources(): Promise<ConnectorSources> {
  const connector = installedPackage('@security-optimizer/connector');
  const dashboard = join(installedPackage('@security-optimizer/dashboard'), 'dist');
  if (!(await isFile(join(dashboard, 'entrypoints.json')))) {
    throw new CommandError('The dashboard is not built. Run `npm run build` in the project and try again.');
  }
  const languages = join(connector, 'dist/languages');
  if (!(await isFile(join(languages, 'security-optimizer-de_DE.json')))) {
    throw new CommandError('The translations are not built. Run `npm run build` in the project and try again.');
  }
  const assets = await filesBelow(dashboard);
  // The list of entry points goes last: until then WordPress names the files of the version before.
  assets.sort((a, b) => Number(a === 'entrypoints.json') - Number(b === 'entrypoints.json'));
  const own = join(connector, 'security-optimizer');
  return {
    loader: join(connector, LOADER),
    files: [
      ...(await filesBelow(own)).map((to) => ({ from: join(own, to), to })),
      ...(await filesBelow(languages)).map((name) => ({ from: join(languages, name), to: join('languages', name) })),
      ...assets.map((name) => ({ from: join(dashboard, name), to: join('assets', name) })),
    ],
  };
}

/**
 * Installs or updates the connector as a must-use plugin. Each file is replaced at once; the secret comes before the
 * loader, so that WordPress never runs the connector without it. Classes of two versions must never meet in a request,
 * not even when this ends halfway or PHP keeps old files in memory: each version has a folder of its own, and the
 * loader, which comes last, names it. The folder of the version before stays until the next time.
 */
export async function installConnector(
  folders: WordPressFolders,
  sources: ConnectorSources,
  settings: { readonly secret: string; readonly onlyThroughGuard: boolean },
): Promise<void> {
  const access = await accessLike(folders.wordpressDir);
  const folder = connectorFolder(folders);
  const loader = join(dirname(folder), LOADER);
  const before = classesOf(await readFile(loader, 'utf8').catch(() => ''));
  const contents = await Promise.all(sources.files.map(async ({ from, to }) => ({ to, bytes: await readFile(from) })));
  const classes = `${CLASSES}-${hashOf(contents.filter(({ to }) => topOf(to) === CLASSES))}`;
  const files = contents.map(({ to, bytes }) => ({
    to: topOf(to) === CLASSES ? to.replace(CLASSES, classes) : to,
    bytes,
  }));
  for (const path of [dirname(folder), folder]) await makeSiteFolder(path, access);
  for (const path of foldersOf(files)) await makeSiteFolder(join(folder, path), access);
  for (const { to, bytes } of files) {
    await writeFileAtomically(join(folder, to), bytes, { ...access, mode: 0o644 });
  }
  await writeConnectorSecret(folders, settings);
  const text = (await readFile(sources.loader, 'utf8')).replaceAll(`/${CLASSES}/`, `/${classes}/`);
  await writeFileAtomically(loader, text, { ...access, mode: 0o644 });
  const current = new Set([...files.map(({ to }) => to), 'secret.php']);
  for (const name of await filesBelow(folder)) {
    if (!current.has(name) && topOf(name) !== before) await rm(join(folder, name), { force: true });
  }
  for (const name of await readdir(folder))
    if (name.startsWith(CLASSES)) await rmdir(join(folder, name)).catch(() => {});
}

/** Folder of the classes that an installed loader runs, or null. */
function classesOf(loader: string): string | null {
  return new RegExp(`/(${CLASSES}[-0-9a-f]*)/class-hooks\\.php`).exec(loader)?.[1] ?? null;
}

function hashOf(files: readonly { readonly to: string; readonly bytes: Buffer }[]): string {
  const hash = createHash('sha256');
  for (const { to, bytes } of files) hash.update(`${to}\n${bytes.length}\n`).update(bytes);
  return hash.digest('hex').slice(0, 12);
}

function topOf(path: string): string {
  return path.split(sep)[0] as string;
}

/** Removes everything that `installConnector` wrote. The loader goes first, so that no half of it runs. */
export async function removeConnector(folders: WordPressFolders): Promise<void> {
  const folder = connectorFolder(folders);
  await rm(join(dirname(folder), LOADER), { force: true });
  await rm(folder, { recursive: true, force: true });
  // Gone if it is empty now; WordPress has no such folder by itself.
  await rmdir(dirname(folder)).catch(() => undefined);
}

function installedPackage(name: string): string {
  try {
    return packageFolder(name);
  } catch (cause) {
    throw new CommandError(`The package ${name} is not installed. Run \`npm install\` and try again.`, { cause });
  }
}

async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .sort();
}

/** Every folder that the files need, parents before children. */
function foldersOf(files: readonly Pick<SourceFile, 'to'>[]): string[] {
  const folders = new Set<string>();
  for (const { to } of files) {
    for (let folder = dirname(to); folder !== '.'; folder = dirname(folder)) folders.add(folder);
  }
  return [...folders].sort();
}

async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
}
