import { createHash } from 'node:crypto';
import { readdir, readFile, rm, stat } from 'node:fs/promises';
import { dirname, join, relative, sep } from 'node:path';
import { packageFolder, writeFileAtomically } from '../lib/files.js';
import type { SiteId } from '../site.js';
import type { WordPressFolders } from '../wordpress/connector-secret.js';
import {
  type ConnectorSources,
  type KeyLocation,
  runSiteTask,
  type SecretContent,
  type SiteResults,
  type SiteTaskOptions,
} from '../wordpress/site-files.js';
import { CommandError } from './command.js';

/** Names of installed files are relative to the folder of must-use plugins, with slashes. */
export const LOADER = 'security-optimizer.php';
export const OWN_FOLDER = 'security-optimizer';
export const SECRET = `${OWN_FOLDER}/secret.php`;
/** Folder with one key for each site that uses the folder of must-use plugins. */
export const KEYS = `${OWN_FOLDER}/keys`;
/** Folder of the connector's classes among the sources. The installed folder's name depends on its content. */
const CLASSES = 'includes';

/** The files that guard has written into a site. Stored on guard's side, where the site's owner can't change it. */
export interface FileRecord {
  /** Returns an empty list when there is no record. */
  read(): Promise<readonly string[]>;
  write(files: readonly string[]): Promise<void>;
  delete(): Promise<void>;
}

/** The record of a site in a data folder. */
export function fileRecord(dataDir: string, site: SiteId): FileRecord {
  const file = join(dataDir, 'sites', `${site}.files`);
  return {
    async read() {
      const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return '';
        throw error;
      });
      return text.split('\n').filter(isConnectorFile);
    },
    write: (files) => writeFileAtomically(file, `${[...files].sort().join('\n')}\n`, { mode: 0o600 }),
    delete: () => rm(file, { force: true }),
  };
}

/** Whether a name may belong to an installed connector. No other file is ever deleted, whatever the record says. */
export function isConnectorFile(name: string): boolean {
  if (name === LOADER || isKeyFile(name)) return true;
  const [own, top = '', ...rest] = name.split('/');
  if (own !== OWN_FOLDER || rest.length === 0) return false;
  if (!/^(?:assets|languages|includes(?:-[0-9a-f]{12})?)$/.test(top)) return false;
  return rest.every((part) => /^[A-Za-z0-9_-][A-Za-z0-9._-]*$/.test(part));
}

/** Whether a name may be that of a site's key file. */
export function isKeyFile(name: string): boolean {
  return name === SECRET || /^security-optimizer\/keys\/[0-9a-f]{16}\.php$/.test(name);
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
  // The list of entry points is last: until it is replaced, WordPress names the files of the previous version.
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

/** A connector to install, in memory. */
export interface Connector {
  /** Folder of the classes when sites share them; null for a copy of the site's own. */
  readonly sharedRelease: string | null;
  /** All files except the key file and the loader, in the order of installation. */
  readonly files: readonly ConnectorFile[];
  readonly loader: ConnectorFile;
  readClassNames(loader: string): string | null;
}

interface ConnectorFile {
  readonly name: string;
  readonly bytes: Buffer;
}

/** The expression in the loader for the folder of all files except the key. */
const OWN_DIR = "__DIR__ . '/security-optimizer' );";

/** The folder of the classes that an installed loader runs, or null. */
export const readClassNames: Connector['readClassNames'] = (loader) =>
  new RegExp(`/(${CLASSES}[-0-9a-f]*)/class-hooks\\.php`).exec(loader)?.[1] ?? null;

/** The folder of the site's own classes that an installed loader runs; null for a folder that several sites share. */
export function readOwnClassNames(loader: string): string | null {
  return loader.includes(OWN_DIR) ? readClassNames(loader) : null;
}

/**
 * Reads the files to install. One request must never load classes of two versions, not even after an interrupted update
 * or when PHP caches old files. So each version has a folder of its own, and the loader names it.
 *
 * @param shared folder with the releases that sites share: then only the loader is installed
 */
export async function readConnector(sources: ConnectorSources, shared: string | null): Promise<Connector> {
  const contents = await readContents(sources);
  const text = await readFile(sources.loader, 'utf8');
  if (shared !== null) {
    const sharedRelease = join(shared, toHash(await readRelease(sources)));
    const bytes = Buffer.from(text.replace(OWN_DIR, `'${sharedRelease}' );`));
    return { files: [], loader: { name: LOADER, bytes }, sharedRelease, readClassNames };
  }
  const classes = `${CLASSES}-${toHash(contents.filter(({ to }) => getFirstFolder(to) === CLASSES))}`;
  const files = contents.map(({ to, bytes }) => {
    const path = (getFirstFolder(to) === CLASSES ? to.replace(CLASSES, classes) : to).split(sep).join('/');
    return { name: `${OWN_FOLDER}/${path}`, bytes };
  });
  const unexpected = files.find(({ name }) => !isConnectorFile(name));
  if (unexpected !== undefined) throw new Error(`${unexpected.name} would never be removed again.`);
  const bytes = Buffer.from(text.replaceAll(`/${CLASSES}/`, `/${classes}/`));
  return { files, loader: { name: LOADER, bytes }, sharedRelease: null, readClassNames };
}

/** Name of the loader in a shared folder, for must-use plugins that `include` it. */
const SHARED_LOADER = 'loader.php';

/** All files of the connector in a folder that sites share. */
export async function readRelease(sources: ConnectorSources): ReturnType<typeof readContents> {
  const text = await readFile(sources.loader, 'utf8');
  const loader = { to: SHARED_LOADER, bytes: Buffer.from(text.replace(OWN_DIR, '__DIR__ );')) };
  return [...(await readContents(sources)), loader];
}

/** The content of a must-use plugin that runs the connector from a shared folder. */
export function toIncludingLoader(sharedRelease: string): string {
  return `<?php define( 'SECURITY_OPTIMIZER_FILE', __FILE__ ); require '${sharedRelease}/${SHARED_LOADER}';\n`;
}

/** All files of the connector except loader and key, with paths relative to the connector's folder. */
async function readContents(
  sources: ConnectorSources,
): Promise<readonly { readonly to: string; readonly bytes: Buffer }[]> {
  return Promise.all(sources.files.map(async ({ from, to }) => ({ to, bytes: await readFile(from) })));
}

/**
 * Installs or updates the connector as a must-use plugin, with the rights of the site's owner. The loader is written
 * last. The classes of the previous version stay until the next update. Files are recorded before they are written.
 *
 * @param options `shared`: folder with the releases that sites share, see `readConnector`; `key`: where the site's key
 *   is written
 * @throws SiteFilesError
 */
export async function installConnector(
  folders: WordPressFolders,
  sources: ConnectorSources,
  content: SecretContent,
  record: FileRecord,
  {
    shared = null,
    key = 'secret.php',
    ...options
  }: SiteTaskOptions & { readonly shared?: string | null; readonly key?: KeyLocation } = {},
): Promise<SiteResults['install']> {
  const { files, loader } = await readConnector(sources, shared);
  const recorded = await record.read();
  await record.write([...new Set([...recorded, ...files.map(({ name }) => name), SECRET, loader.name])]);
  const task = { kind: 'install', sources, content, recorded, shared, key } as const;
  const installed = await runSiteTask(folders, task, options);
  await record.write(installed.files);
  return installed;
}

/** Hash of files and their names: 12 hexadecimal digits. */
export function toHash(files: readonly { readonly to: string; readonly bytes: Buffer }[]): string {
  const hash = createHash('sha256');
  for (const { to, bytes } of files) hash.update(`${to}\n${bytes.length}\n`).update(bytes);
  return hash.digest('hex').slice(0, 12);
}

function getFirstFolder(path: string): string {
  return path.split(sep)[0] as string;
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

/** All folders that the files need, parents before children. */
export function listFolders(names: readonly string[]): string[] {
  const folders = new Set<string>();
  for (const name of names) {
    for (let folder = dirname(name); folder !== '.'; folder = dirname(folder)) folders.add(folder);
  }
  return [...folders].sort();
}

async function isFile(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
}
