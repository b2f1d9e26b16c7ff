import { accessSync, constants, statSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { isSecret } from '../config/secret-form.js';
import {
  enterNamed,
  findStatus,
  MissingFolder,
  makeFolder,
  placeFile,
  RefusedPath,
  readPlainFile,
  removeFile,
  removeIfEmpty,
  type StagedFile,
  shown,
  stageFile,
  syncFolder,
} from '../lib/pinned-folder.js';
import { secretPhp } from '../wordpress/connector-secret.js';
import {
  callChild,
  type SecretContent,
  type SiteCall,
  type SiteReply,
  type SiteResults,
  type SiteTask,
} from '../wordpress/site-files.js';
import {
  type Connector,
  findConnectorSources,
  isConnectorFile,
  isKeyFile,
  KEYS,
  LOADER,
  listFolders,
  OWN_FOLDER,
  readConnector,
  SECRET,
} from './connector-files.js';
import { examineConnector } from './examine-connector.js';
import {
  type EnteredWordPress,
  enterWordPress,
  existsInSite,
  goBack,
  inFolder,
  inFolderIfPresent,
  type OpenSite,
  openSite,
  PUBLIC,
  secretRights,
  toFolder,
} from './open-site.js';
import { queryMuPluginsFolder } from './query-mu-plugins-folder.js';
import { findSharedFault } from './shared-connector.js';
import {
  containsKey,
  examineSharedKey,
  findKeyFile,
  hasKeys,
  isOfMissingRelease,
  listKeys,
  MAX_READ_BYTES,
  ownKeyFile,
  toKeyFiles,
} from './site-keys.js';

/**
 * The program that works in a site's folder. It carries out one task and exits, so that it can drop root's rights
 * permanently before it accesses anything (docs/decisions/0019). As `broker` it stays root, accesses no site's folder
 * itself, and starts such a program for each task that a command without root's rights requests.
 */

function locate({ folders }: SiteCall): SiteResults['locate'] {
  const { wordpressDir } = folders;
  const createMissingError = (file: string) =>
    new RefusedPath(`${wordpressDir} is not a WordPress folder: it has no ${file}.`);
  try {
    enterNamed(wordpressDir);
  } catch (error) {
    throw error instanceof MissingFolder ? createMissingError('wp-load.php') : error;
  }
  for (const file of ['wp-load.php', join('wp-includes', 'version.php')]) {
    if (!statSync(file, { throwIfNoEntry: false })?.isFile()) throw createMissingError(file);
  }
  return { wordpressDir: process.cwd() };
}

function inspect(call: SiteCall): SiteResults['inspect'] {
  const { wordpressDir, muPluginsDir } = call.folders;
  const wordpress = enterWordPress(wordpressDir);
  if (muPluginsDir === undefined && findStatus('wp-content') === null) {
    throw new RefusedPath(
      `${wordpressDir} has no wp-content. Name the folder of the site's must-use plugins with --mu-plugins.`,
    );
  }
  if (muPluginsDir !== undefined && !statSync(dirname(muPluginsDir), { throwIfNoEntry: false })?.isDirectory()) {
    throw new RefusedPath(`There is no folder ${dirname(muPluginsDir)} for must-use plugins.`);
  }
  const { model } = wordpress;
  const site = openSite(call, wordpress, false);
  // The working directory is that folder, or its parent.
  const plugins = site === null ? shown(basename(muPluginsDir ?? 'mu-plugins')) : process.cwd();
  refuseUnlessWritable();
  secretRights(model);
  if (site !== null && findStatus(OWN_FOLDER) !== null) {
    inFolder(OWN_FOLDER, model, () => {
      refuseUnlessWritable();
      for (const name of ['assets', 'languages', basename(KEYS)]) {
        if (findStatus(name) !== null) inFolder(name, model, refuseUnlessWritable);
      }
    });
  }
  return {
    muPluginsDir: plugins,
    hasKeys: site !== null && hasKeys(site),
    isElsewhere: site !== null && isElsewhere(plugins, site, wordpress),
  };
}

/** Whether the folder is not part of the site: outside WordPress, and owned by another user. */
function isElsewhere(plugins: string, site: OpenSite, { path, folder }: EnteredWordPress): boolean {
  return site.plugins.uid !== folder.uid && relative(path, plugins).startsWith('..');
}

/** @throws RefusedPath with the cause and a remedy when no file can be created in the working directory */
function refuseUnlessWritable(): void {
  try {
    accessSync('.', constants.W_OK | constants.X_OK);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    const folder = shown('');
    if (code === 'EROFS') {
      throw new RefusedPath(
        `${folder} is on a read-only file system, so the connector can’t be installed there. Attach the site where its code is made (the build of a release or of an image), or make the file system writable while \`attach\` runs.`,
      );
    }
    if (code === 'EACCES' || code === 'EPERM') {
      throw new RefusedPath(
        `User ${process.geteuid?.()} may not write into ${folder}, so the connector can’t be installed there. Give that user the right to (\`chmod u+w\`, \`chown\`), or run \`attach\` as a user who has it.`,
      );
    }
    throw new RefusedPath(`${folder} can’t be written: ${message}`);
  }
}

function install(
  call: SiteCall,
  task: Extract<SiteTask, { kind: 'install' }>,
  connector: Connector,
): SiteResults['install'] {
  const wordpress = enterWordPress(call.folders.wordpressDir);
  const fault = connector.sharedRelease === null ? null : findSharedFault(connector.sharedRelease);
  if (fault !== null) throw new RefusedPath(fault);
  const site = openSite(call, wordpress, true) as OpenSite;
  const loader = readPlainFile(LOADER, MAX_READ_BYTES) ?? '';
  const before = connector.readClassNames(loader);
  // The key is before the loader, so that WordPress never runs the connector without it.
  const files = [...connector.files, ...toKeyFiles(site, task.key, task.content), connector.loader];
  const current = new Set(files.map(({ name }) => name));
  placeFiles(site, files);
  const isNewLoader = loader !== connector.loader.bytes.toString();
  const remaining = task.key === 'secret.php' ? [] : retainSecret(site, task, isNewLoader);
  remaining.push(...retainFormerKeys(site, task.recorded, current));
  // The files of the copy are needed until guard serves the shared files and pages that are open request no more.
  const isLeavingCopy = connector.sharedRelease !== null && before !== null && before !== 'includes';
  const old = task.recorded.filter((name) => isConnectorFile(name) && !isKeyFile(name) && !current.has(name));
  for (const name of old) {
    if (isLeavingCopy || (before !== null && name.startsWith(`${OWN_FOLDER}/${before}/`))) remaining.push(name);
    else if (!removeRecorded(site, name)) remaining.push(name);
  }
  removeEmptyFolders(site, old);
  return { files: [...current, ...remaining], sharedKey: task.key === 'by-path' ? examineSharedKey(site) : null };
}

/**
 * Removes this site's key from `secret.php`, where every site of the folder could read it. Requests that still run an
 * earlier version of the connector read only that file, so until the next update it stays, restricted to this site.
 *
 * @returns the file's name while it is kept
 */
function retainSecret(
  site: OpenSite,
  { content, key }: Extract<SiteTask, { kind: 'install' }>,
  isNewLoader: boolean,
): string[] {
  if (!containsKey(site, SECRET, content.secret)) return [];
  if (!isNewLoader) return removeRecorded(site, SECRET) ? [] : [SECRET];
  if (key === 'by-path') {
    placeFiles(site, [{ name: SECRET, bytes: Buffer.from(secretPhp({ ...content, onlyFor: site.wordpressDir })) }]);
  }
  return [SECRET];
}

/**
 * Removes this site's keys under the names of releases that no longer exist. The others stay for a rollback.
 * @returns names of those that stay
 */
function retainFormerKeys(site: OpenSite, recorded: readonly string[], current: ReadonlySet<string>): string[] {
  const former = recorded.filter((name) => name !== SECRET && isKeyFile(name) && !current.has(name));
  return former.filter((name) => !isOfMissingRelease(site, name) || !removeRecorded(site, name));
}

/**
 * Writes all files under temporary names first, and renames them only then: when the disk is full nothing has changed.
 */
function placeFiles(site: OpenSite, files: readonly { readonly name: string; readonly bytes: Uint8Array }[]): void {
  const { model } = site;
  const staged: { readonly folder: string; readonly file: StagedFile }[] = [];
  const folders = listFolders(files.map(({ name }) => name));
  const created: string[] = [];
  const key = secretRights(model);
  try {
    for (const folder of folders) {
      inFolder(toFolder(folder), model, () => {
        if (makeFolder(basename(folder))) created.push(folder);
      });
    }
    for (const { name, bytes } of files) {
      const folder = toFolder(name);
      inFolder(folder, model, () => {
        const file = isKeyFile(name)
          ? // A web server never serves a key file that a killed process has left behind.
            stageFile(basename(name), bytes, key, '.php')
          : stageFile(basename(name), bytes, PUBLIC);
        staged.push({ folder, file });
      });
    }
    while (staged.length > 0) {
      const { folder, file } = staged[0] as (typeof staged)[number];
      inFolder(folder, model, () => {
        placeFile(file);
        staged.shift();
        if (staged[0]?.folder !== folder) syncFolder();
      });
    }
  } catch (error) {
    undo(site, staged, created);
    throw error;
  }
}

function undo(
  site: OpenSite,
  staged: readonly { readonly folder: string; readonly file: StagedFile }[],
  created: readonly string[],
): void {
  const attempt = (folder: string, work: () => void) => {
    try {
      goBack(site);
      inFolder(folder, site.model, work);
    } catch {
      // The folders were changed under this process. What it has left there belongs to the owner.
    }
  };
  for (const { folder, file } of staged) attempt(folder, () => removeFile(file.temporary));
  for (const folder of [...created].reverse()) attempt(toFolder(folder), () => removeIfEmpty(basename(folder)));
  if (site.isCreated) attempt('', removeThisIfEmpty);
}

/** Removes the working directory if it is empty, and changes to its parent. */
function removeThisIfEmpty(): void {
  const name = basename(process.cwd());
  process.chdir('..');
  removeIfEmpty(name);
}

/** @returns whether the file no longer exists */
function removeRecorded(site: OpenSite, name: string): boolean {
  try {
    inFolder(toFolder(name), site.model, () => removeFile(basename(name)));
  } catch (error) {
    goBack(site);
    return error instanceof MissingFolder;
  }
  return true;
}

function removeEmptyFolders(site: OpenSite, names: readonly string[]): void {
  for (const folder of listFolders(names).reverse()) {
    try {
      inFolder(toFolder(folder), site.model, () => removeIfEmpty(basename(folder)));
    } catch {
      goBack(site);
    }
  }
}

/**
 * Removes the loader first, so that an incomplete connector never runs, and the classes only when the requests that
 * were running then have ended: PHP loads a class when it is first used.
 */
async function remove(call: SiteCall, task: Extract<SiteTask, { kind: 'remove' }>): Promise<SiteResults['remove']> {
  const recorded = task.recorded.filter(isConnectorFile);
  let site: OpenSite | null;
  try {
    site = openSite(call, enterWordPress(call.folders.wordpressDir), false);
  } catch (error) {
    if (error instanceof MissingFolder) return { hasOthers: false, isInUse: false };
    throw error;
  }
  if (site === null) return { hasOthers: false, isInUse: false };
  const keys = listKeys(site);
  const opened = site;
  // Does not use the record, which guard's user can change: the other keys belong to other sites.
  const ownKeys = keys.filter((name) =>
    isSecret(task.secret) ? containsKey(opened, name, task.secret) : name === ownKeyFile(opened),
  );
  const isSecretOwn = containsKey(site, SECRET, task.secret);
  // A key belongs to another site. Without such a key, `secret.php` belongs to this site, whatever it contains.
  if (task.isInUse || keys.length > ownKeys.length || (keys.length > 0 && !isSecretOwn && existsInSite(site, SECRET))) {
    if (task.part === 'loader') return { hasOthers: false, isInUse: true };
    for (const name of isSecretOwn ? [...ownKeys, SECRET] : ownKeys) removeRecorded(site, name);
    removeEmptyFolders(site, ownKeys);
    return { hasOthers: false, isInUse: true };
  }
  const names = [...new Set([...recorded, ...ownKeys])];
  // Checks access to all folders before anything is deleted.
  for (const folder of listFolders(names)) {
    inFolderIfPresent(folder, site, () => {});
  }
  const hadLoader = findStatus(LOADER) !== null;
  removeFile(LOADER);
  if (task.part === 'loader') return { hasOthers: false, isInUse: false };
  if (hadLoader) await pause(task.drainMs);
  for (const name of names) {
    inFolderIfPresent(toFolder(name), site, () => removeFile(basename(name)));
  }
  removeEmptyFolders(site, names);
  const hasOthers = findStatus(OWN_FOLDER) !== null;
  // Deletes the folder of must-use plugins if it is empty now; WordPress has no such folder by default.
  removeThisIfEmpty();
  return { hasOthers, isInUse: false };
}

function restoreKey(call: SiteCall, content: SecretContent, onlyIfLacking: boolean): SiteResults['restore-key'] {
  const site = openSite(call, enterWordPress(call.folders.wordpressDir), false);
  if (site === null) throw new MissingFolder(`${call.folders.wordpressDir} has no folder of must-use plugins.`);
  if (onlyIfLacking) {
    if (!findStatus(LOADER)?.isFile()) return { written: false };
    if (containsKey(site, findKeyFile(site), content.secret)) return { written: false };
  }
  // In a folder with keys of several sites, every site could read `secret.php`.
  placeFiles(site, toKeyFiles(site, hasKeys(site) ? 'by-path' : 'secret.php', content));
  return { written: true };
}

async function perform(call: SiteCall): Promise<SiteResults[SiteTask['kind']]> {
  const { task } = call;
  process.umask(0o022);
  switch (task.kind) {
    case 'locate':
      return locate(call);
    case 'ask-folder':
      return queryMuPluginsFolder(call, task);
    case 'inspect':
      return inspect(call);
    case 'install':
      // Read with root's rights: the site's owner may not be able to read these files.
      return install(call, task, await readConnector(task.sources, task.shared));
    case 'remove':
      return remove(call, task);
    case 'examine':
      return examineConnector(call, task.secret);
    case 'restore-key':
      return restoreKey(call, task.content, task.onlyIfLacking);
  }
}

async function toReply(work: () => Promise<SiteReply>): Promise<SiteReply> {
  try {
    return await work();
  } catch (error) {
    const { code, message, stack } = error as NodeJS.ErrnoException;
    if (error instanceof RefusedPath || error instanceof MissingFolder) return { ok: false, message };
    return { ok: false, message: code === undefined ? (stack ?? message) : `${shown('')}: ${message}` };
  }
}

/** Tasks that install nothing, so the operator need not have named the folder. */
const UNNAMED_TASKS: ReadonlySet<SiteTask['kind']> = new Set(['remove', 'locate', 'examine']);

/**
 * Validates a request of a command without root's rights. Its user may have changed the configuration: files are
 * installed only in folders that the operator has named, and only guard's own files.
 */
async function brokered(call: SiteCall, installable: Set<string>): Promise<SiteReply> {
  const { folders, task, proof } = call;
  const { wordpressDir, muPluginsDir } = folders;
  const isFree = UNNAMED_TASKS.has(task.kind) || installable.has(wordpressDir);
  const owner = isFree ? null : await findKeyOwner(proof);
  if (!isFree && owner === null) {
    return {
      ok: false,
      message: `${wordpressDir} was not named, and no release of its owner has the key of this site. Attach it once with --wordpress ${wordpressDir}.`,
    };
  }
  const isMuPluginsNamed = call.isMuPluginsNamed && muPluginsDir !== undefined && installable.has(muPluginsDir);
  const reply = await callChild({
    folders,
    ...(owner !== null && { owner }),
    ...(call.reportedOwner !== undefined && { reportedOwner: call.reportedOwner }),
    // A folder that is only examined may be anywhere.
    isMuPluginsNamed: task.kind === 'examine' || isMuPluginsNamed,
    task: task.kind === 'install' ? { ...task, sources: await findConnectorSources() } : task,
  });
  const isNamed = task.kind === 'locate' && installable.has(wordpressDir);
  if (reply.ok && isNamed) installable.add((reply.result as SiteResults['locate']).wordpressDir);
  return reply;
}

/**
 * The owner of a folder in which the connector has a site's key. Guard's user could have invented the folders, but only
 * their owner, or root for them, can have put the key there. Root's ownership proves nothing: its folders belong to
 * many sites.
 */
async function findKeyOwner(proof: SiteCall['proof']): Promise<number | null> {
  if (proof === undefined || !/^[0-9a-f]{64}$/.test(proof.secret)) return null;
  for (const folders of proof.installed) {
    const task = { kind: 'examine', secret: proof.secret } as const;
    const reply = await callChild({ folders, isMuPluginsNamed: true, task });
    if (!reply.ok) continue;
    const { hasKey, plugins, secret } = reply.result as SiteResults['examine'];
    if (hasKey && plugins.uid !== 0 && secret?.uid === plugins.uid) return plugins.uid;
  }
  return null;
}

function main([mode, ...named]: readonly string[]): void {
  const reply = (message: SiteReply, then = () => {}) => process.send?.(message, then);
  if (mode === 'broker') {
    const installable = new Set(named);
    process.on('message', async (call) => reply(await toReply(() => brokered(call as SiteCall, installable))));
    return;
  }
  process.once('message', async (call) => {
    const outcome = await toReply(async () => ({ ok: true, result: await perform(call as SiteCall) }));
    reply(outcome, () => process.disconnect?.());
  });
}

main(process.argv.slice(2));
