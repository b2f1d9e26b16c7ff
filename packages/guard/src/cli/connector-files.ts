import { readdir, readFile, rm, rmdir, stat } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
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
 * loader, so that WordPress never runs the connector without it.
 */
export async function installConnector(
  folders: WordPressFolders,
  sources: ConnectorSources,
  settings: { readonly secret: string; readonly onlyThroughGuard: boolean },
): Promise<void> {
  const access = await accessLike(folders.wordpressDir);
  const folder = connectorFolder(folders);
  for (const path of [dirname(folder), folder]) await makeSiteFolder(path, access);
  for (const path of foldersOf(sources.files)) await makeSiteFolder(join(folder, path), access);
  for (const { from, to } of sources.files) {
    await writeFileAtomically(join(folder, to), await readFile(from), { ...access, mode: 0o644 });
  }
  await writeConnectorSecret(folders, settings);
  await writeFileAtomically(join(dirname(folder), LOADER), await readFile(sources.loader), { ...access, mode: 0o644 });
  const current = new Set([...sources.files.map(({ to }) => to), 'secret.php']);
  for (const name of await filesBelow(folder)) if (!current.has(name)) await rm(join(folder, name), { force: true });
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
function foldersOf(files: readonly SourceFile[]): string[] {
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
