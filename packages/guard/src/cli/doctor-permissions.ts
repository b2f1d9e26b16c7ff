import { guideFile } from '../lib/guides.js';
import { toShortList } from '../lib/short-list.js';
import type { ExaminedSite, FileFacts, InstalledFile } from '../wordpress/site-files.js';
import { type Finding, type Judgement, toFinding } from './doctor-findings.js';

/** The conclusions of `doctor` about owners and modes of guard's files. */

/** Guard's data folder. */
export interface DataFolderFacts {
  readonly folder: FileFacts;
  /** Its files, and those of the site in `sites`. */
  readonly files: readonly FileFacts[];
  /** User of the running guard; null when it is not known. */
  readonly guardUid: number | null;
}

/** Why the files inside WordPress were not checked. */
export type SiteFilesFault = { readonly fault: string; readonly isDenied: boolean };

/** The part of a site's configuration that concerns its connector. */
export interface ConnectorSettings {
  /** The operator provides the key, so it is not among the connector's files. */
  readonly isKeyExternal: boolean;
  readonly requireGuard: boolean;
}

/** Files that only guard's user may read. */
const PRIVATE_FILE = /(?:^guard\.json|\.secret|\.key|\.sqlite(?:-wal|-shm)?)$/;
const OTHERS_WRITE = 0o022;

/**
 * Whether owners and modes of guard's files are as `attach` and guard create them.
 *
 * @param site the connector's files; null when guard does not know WordPress's folder
 * @param sharedFault why the site must not run the connector from its shared folder; null when it may
 */
export function checkPermissions(
  data: DataFolderFacts,
  site: ExaminedSite | SiteFilesFault | null,
  sharedFault: string | null,
  settings: ConnectorSettings,
): readonly Finding[] {
  const findings = [...judgeDataFolder(data), ...judgeSiteFiles(site, settings)];
  if (sharedFault !== null) {
    const advice =
      'Make it anew as root: security-optimizer share-connector. Then run `security-optimizer attach` again.';
    findings.push(['problem', 'files-shared', sharedFault, advice]);
  }
  if (findings.length === 0)
    findings.push(['ok', 'Owners and modes of guard’s files and of the connector’s are right.']);
  return findings.map((each) => toFinding('permissions', each));
}

function judgeDataFolder({ folder, files, guardUid }: DataFolderFacts): Judgement[] {
  const found: Judgement[] = [];
  if ((folder.mode & OTHERS_WRITE) !== 0) {
    found.push([
      'problem',
      'files-folder-writable',
      `Others may write in ${folder.path}.`,
      `Run chmod 700 ${folder.path}.`,
    ]);
  }
  if (guardUid !== null && guardUid !== folder.uid) {
    const message = `Guard runs as user ${guardUid}, but ${folder.path} belongs to user ${folder.uid}.`;
    found.push([
      'problem',
      'files-guard-user',
      message,
      'Set `User=` of the unit to the owner of the data folder, and restart guard.',
    ]);
  }
  const foreign = files.filter(({ uid }) => uid !== folder.uid);
  if (foreign.length > 0) {
    const message = `${list(foreign)} ${foreign.length === 1 ? 'does' : 'do'} not belong to user ${folder.uid}, who owns the data folder.`;
    found.push(['problem', 'files-foreign-owner', message, `Run chown -R ${folder.uid} ${folder.path}.`]);
  }
  const open = files.filter(
    ({ path, mode }) => PRIVATE_FILE.test(path.split('/').at(-1) ?? '') && (mode & 0o077) !== 0,
  );
  if (open.length > 0) {
    found.push(['problem', 'files-readable', `Others may read ${list(open)}.`, `Run chmod 600 on ${list(open)}.`]);
  }
  return found;
}

function list(files: readonly FileFacts[]): string {
  return toShortList(files.map(({ path }) => path));
}

/** What a site with an incomplete connector does. Without one of these two files its loader does nothing. */
function toConsequence(lacking: readonly string[], requireGuard: boolean): string {
  if (!lacking.some((path) => /\/(?:classes|class-hooks)\.php$/.test(path))) return 'Requests that need it fail.';
  return requireGuard
    ? 'So it does not run, and WordPress also answers visitors who come past guard, although the site requires guard.'
    : 'So it does not run.';
}

function judgeSiteFiles(
  site: ExaminedSite | SiteFilesFault | null,
  { isKeyExternal, requireGuard }: ConnectorSettings,
): Judgement[] {
  if (site === null) {
    return [
      [
        'skipped',
        'files-folder-unknown',
        'WordPress’s folder is not in the configuration, so its files were not looked at.',
      ],
    ];
  }
  if ('fault' in site) {
    return site.isDenied
      ? [
          [
            'skipped',
            'files-no-access',
            `This user may not look into the site: ${site.fault}.`,
            'Run `doctor` as root.',
          ],
        ]
      : [
          [
            'problem',
            'files-unusable',
            site.fault,
            `See ${guideFile('operations.md')}, As a service: who must own which folder.`,
          ],
        ];
  }
  const { plugins, loader, hasKey, model } = site;
  const secret = isKeyExternal ? null : site.secret;
  if (loader === null || (secret === null && !isKeyExternal)) {
    const missing = loader === null ? 'the loader security-optimizer.php' : 'the key file';
    return [
      [
        'problem',
        'files-missing',
        `In ${plugins.path} ${missing} is missing.`,
        'Run `security-optimizer attach` again.',
      ],
    ];
  }
  const found: Judgement[] = [];
  if (site.lacking.length > 0) {
    found.push([
      'problem',
      'files-incomplete',
      `The connector is incomplete: ${toShortList(site.lacking)} ${site.lacking.length === 1 ? 'is' : 'are'} missing. ${toConsequence(site.lacking, requireGuard)}`,
      'Run `security-optimizer attach` again.',
    ]);
  }
  if (secret !== null && !hasKey) {
    found.push([
      'problem',
      'files-other-key',
      `${secret.path} does not hold the site’s key.`,
      'Run `security-optimizer attach` again.',
    ]);
  }
  if (secret !== null && (secret.mode & ~model.mode & 0o044) !== 0) {
    const message = `More users may read ${secret.path} than ${model.path}.`;
    found.push([
      'problem',
      'files-key-readable',
      message,
      'Run `security-optimizer attach` again: it gives the key file the same readers.',
    ]);
  }
  const files = secret === null ? [plugins, loader] : [plugins, loader, secret];
  return [...found, ...judgeInstalled(files, site)];
}

/** Others who may change the connector run code in the site. @param files that belong to the site besides it */
function judgeInstalled(
  files: readonly FileFacts[],
  { plugins, loader, model, installed }: ExaminedSite,
): readonly Judgement[] {
  const found: Judgement[] = [];
  const all = [...files, ...installed];
  const writable = all.filter(({ mode }) => (mode & 0o002) !== 0);
  if (writable.length > 0) {
    const message = `Every user may change ${list(writable)}.`;
    found.push(['problem', 'files-writable', message, `Run chmod -R o-w on ${list(writable)}.`]);
  }
  // The owner of the site decides whether a group may change its must-use plugins.
  const byGroup = all.filter(({ mode }) => (mode & 0o002) === 0 && (mode & ~plugins.mode & 0o020) !== 0);
  if (byGroup.length > 0) {
    const message = `A group may change ${list(byGroup)}, but not ${plugins.path}. The web server is often a member of it.`;
    found.push(['problem', 'files-writable', message, `Run chmod -R g-w on ${list(byGroup)}.`]);
  }
  const own = loader === null ? installed : [loader, ...installed];
  const foreign = own.filter(({ uid }) => uid !== 0 && uid !== plugins.uid);
  if (foreign.length > 0) {
    const message = `User ${foreign[0]?.uid} may change ${list(foreign)}. The folder of must-use plugins belongs to user ${plugins.uid}.`;
    found.push(['problem', 'files-connector-owner', message, `Run chown -R ${plugins.uid} on ${list(foreign)}.`]);
  }
  const unreadable = [
    ...installed.filter((file) => !isReadableLike(model, file)),
    ...(loader === null || isReadableLike(model, { ...loader, isFolder: false }) ? [] : [loader]),
  ];
  if (unreadable.length > 0) {
    const message = `PHP may not be able to read ${list(unreadable)}: fewer users may than ${model.path}.`;
    found.push(['problem', 'files-unreadable', message, `Run chmod -R a+rX on ${list(unreadable)}.`]);
  }
  return found;
}

/** Whether all users who may read a model, and the owner, may read a file, or enter a folder. */
function isReadableLike(model: FileFacts, { mode, isFolder }: Pick<InstalledFile, 'mode' | 'isFolder'>): boolean {
  const readers = (model.mode & 0o444) | 0o400;
  const needed = isFolder ? readers | (readers >> 2) : readers;
  return (mode & needed) === needed;
}
