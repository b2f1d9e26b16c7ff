import { type ChildProcess, fork } from 'node:child_process';
import { createRequire } from 'node:module';
import { lineText } from '../lib/plain-text.js';
import type { WordPressFolders } from './connector-secret.js';
import type { ReportedFolder } from './must-use-folder.js';

/** The connector's sources as the command line finds them. The program that installs them verifies them. */
export interface ConnectorSources {
  /** Path of the loader. */
  readonly loader: string;
  readonly files: readonly {
    readonly from: string;
    /** Path below the connector's folder. */
    readonly to: string;
  }[];
}

export interface SecretContent {
  /** 64 hexadecimal digits. */
  readonly secret: string;
  readonly requireGuard: boolean;
}

/**
 * Location of a site's key: `secret.php` for a folder of must-use plugins that only this site uses; `by-path` for a
 * file named after WordPress's folder; or `external`, where the operator puts it.
 */
export type KeyLocation = 'secret.php' | 'by-path' | 'external';

/** Names of installed files are relative to the folder of must-use plugins, with slashes. */
export type SiteTask =
  /** Finds a WordPress. */
  | { readonly kind: 'locate' }
  /** Reads from WordPress's own configuration where must-use plugins are, in PHP with the permissions of the owner. */
  | { readonly kind: 'ask-folder'; readonly host: string; readonly path: string; readonly timeoutMs: number }
  /** Checks that an installation is possible, and that its files can be written. Writes nothing. */
  | { readonly kind: 'inspect' }
  | {
      readonly kind: 'install';
      readonly sources: ConnectorSources;
      readonly content: SecretContent;
      /** Folder with the releases that sites share; null to install a copy for this site. */
      readonly shared: string | null;
      /** Files that earlier installations wrote. */
      readonly recorded: readonly string[];
      readonly key: KeyLocation;
    }
  | {
      readonly kind: 'remove';
      readonly recorded: readonly string[];
      /** The site's key, which distinguishes its file from that of another site. */
      readonly secret: string;
      /** Other sites run this connector, wherever their keys are. */
      readonly isInUse: boolean;
      /** `loader`: only the loader is removed, so that no further request runs the connector. */
      readonly part: 'loader' | 'all';
      /** How long requests that run the connector may still load its classes once its loader is gone, milliseconds. */
      readonly drainMs: number;
    }
  /** Reads owners and modes of an installed connector. Writes nothing. */
  | { readonly kind: 'examine'; readonly secret: string }
  | {
      readonly kind: 'restore-key';
      readonly content: SecretContent;
      /** Change nothing if the key exists or no connector is installed. */
      readonly onlyIfLacking: boolean;
    };

/** Result of each task. */
export interface SiteResults {
  /** WordPress's folder without links in its path. */
  locate: { readonly wordpressDir: string };
  'ask-folder': {
    /** Null where PHP could not run, or reported no folder. */
    readonly folder: ReportedFolder | null;
    /** User with whose permissions PHP ran. */
    readonly uid: number;
  };
  inspect: {
    /** Folder of must-use plugins without links in its path, whether or not it exists. */
    readonly muPluginsDir: string;
    /** Whether that folder holds one key per site. */
    readonly hasKeys: boolean;
    /**
     * Whether the folder belongs to another user than WordPress and lies outside of it, so that it is likely shared.
     */
    readonly isElsewhere: boolean;
  };
  /** Every file of guard that is installed now. `sharedKey`: the location of the key, if it is in a file by path. */
  install: { readonly files: readonly string[]; readonly sharedKey: SharedKey | null };
  remove: {
    /** Whether the connector's folder remains because it holds files that guard did not write. */
    readonly hasOthers: boolean;
    /** Whether the connector remains because other sites have their keys there. */
    readonly isInUse: boolean;
  };
  examine: ExaminedSite;
  'restore-key': { readonly written: boolean };
}

/** A key file beside those of other sites. */
export interface SharedKey {
  readonly path: string;
  /** Every user of the machine may read it, as `wp-config.php`. */
  readonly isPublic: boolean;
  /** Another site's key belongs to the same user, so that each of the two sites may read the other's key. */
  readonly hasSameOwner: boolean;
}

/** Owner and permission bits of a file. */
export interface FileFacts {
  readonly path: string;
  readonly uid: number;
  readonly mode: number;
}

/** The connector's files inside a WordPress. */
export interface ExaminedSite {
  /** Folder of must-use plugins, or the nearest existing parent. */
  readonly plugins: FileFacts;
  /** Null when it is missing. */
  readonly loader: FileFacts | null;
  readonly secret: FileFacts | null;
  /** Whether the key file holds guard's key. */
  readonly hasKey: boolean;
  /** `wp-config.php`, whose readers may read the key. */
  readonly model: FileFacts;
  /** The connector's own folder and everything in it except keys. */
  readonly installed: readonly InstalledFile[];
  /** Paths of the classes that the loader needs and that are not there. Empty for classes that sites share. */
  readonly lacking: readonly string[];
}

/** A file or folder of an installed connector. */
export interface InstalledFile extends FileFacts {
  readonly isFolder: boolean;
}

export interface SiteCall {
  readonly folders: WordPressFolders;
  /**
   * Whether the operator specified the folder of must-use plugins. If not, it must belong to the owner of WordPress.
   */
  readonly isMuPluginsNamed: boolean;
  readonly task: SiteTask;
  /** Permits a task in a folder that the operator has not named. */
  readonly proof?: KeyProof;
  /** User who must own the folder of must-use plugins, and whose permissions PHP gets. Default: any user. */
  readonly owner?: number;
  /**
   * User as whom the site's code ran that reported the folder of must-use plugins. The folder must belong to this user.
   */
  readonly reportedOwner?: number;
}

/**
 * Proves that a folder is a release of a site that the operator has attached: its owner also owns a folder in which the
 * connector has the key of that site.
 */
export interface KeyProof {
  /** 64 hexadecimal digits. */
  readonly secret: string;
  /** Folders in which the connector may already be installed. */
  readonly installed: readonly Required<WordPressFolders>[];
}

export type SiteReply =
  | { readonly ok: true; readonly result: SiteResults[SiteTask['kind']] }
  | { readonly ok: false; readonly message: string };

/** Determines which folders of a task are trusted. */
export interface SiteTaskOptions {
  /** For a WordPress folder that the operator has not named. */
  readonly proof?: KeyProof | undefined;
  /**
   * WordPress's own code, not the operator, has reported the folder of must-use plugins. When guard runs as root, the
   * folder must belong to this user, as whom that code ran, and to the owner of WordPress.
   */
  readonly reportedOwner?: number | undefined;
}

/** A task in a site's folder failed. The message contains the path and the reason. */
export class SiteFilesError extends Error {}

/** Limits the wait: the owner of the site can stop the process that runs with their permissions. */
const TIMEOUT_MS = 120_000;

const program = createRequire(import.meta.url).resolve('@security-optimizer/guard/program/site-files');

/**
 * Runs one task in a site's folder in a separate process: with the permissions of the folder's owner where this process
 * is root, otherwise with those of this process (docs/decisions/0019). Links and folders of other users are refused.
 *
 * @param options `timeoutMs`: longest wait for the process; see also `SiteTaskOptions`
 * @throws SiteFilesError
 */
export async function runSiteTask<Task extends SiteTask>(
  folders: WordPressFolders,
  task: Task,
  { timeoutMs = TIMEOUT_MS, proof, reportedOwner }: SiteTaskOptions & { readonly timeoutMs?: number } = {},
): Promise<SiteResults[Task['kind']]> {
  const call: SiteCall = {
    folders,
    isMuPluginsNamed: reportedOwner === undefined,
    task,
    ...(reportedOwner !== undefined && { reportedOwner }),
    ...(proof !== undefined && { proof }),
  };
  const reply = await (broker === null ? callChild(call, timeoutMs) : callBroker(broker, call, timeoutMs));
  // A site's owner chooses file names, which must not control the operator's terminal.
  if (!reply.ok) throw new SiteFilesError(lineText(reply.message));
  return reply.result as SiteResults[Task['kind']];
}

/** Runs a call in a new process. */
export async function callChild(call: SiteCall, timeoutMs = TIMEOUT_MS): Promise<SiteReply> {
  const child = start([]);
  try {
    child.send(call, () => undefined);
    return await nextMessage(child, timeoutMs);
  } finally {
    child.kill('SIGKILL');
  }
}

let broker: ChildProcess | null = null;

/**
 * Starts the process that keeps root's permissions for site tasks while this process switches to another user. It runs
 * the tasks of this module and nothing else.
 *
 * @param named absolute paths that the operator specified, where files may be installed
 */
export function startSiteBroker(named: readonly string[]): void {
  broker = start(['broker', ...named]);
  // The broker must not keep the command's process alive; it exits when the channel closes.
  broker.unref();
  broker.channel?.unref();
}

async function callBroker(to: ChildProcess, call: SiteCall, timeoutMs: number): Promise<SiteReply> {
  to.ref();
  to.channel?.ref();
  try {
    to.send(call, () => undefined);
    return await nextMessage(to, timeoutMs);
  } finally {
    to.unref();
    to.channel?.unref();
  }
}

function start(args: readonly string[]): ChildProcess {
  return fork(program, args, { execArgv: [], stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
}

function nextMessage(child: ChildProcess, timeoutMs: number): Promise<SiteReply> {
  return new Promise((resolve) => {
    const settle = (reply: SiteReply) => {
      clearTimeout(timer);
      child.removeAllListeners();
      resolve(reply);
    };
    const ended = 'The process that works in the site’s folder ended before it was done.';
    const late = 'The work in the site’s folder was not done in time.';
    const timer = setTimeout(() => settle({ ok: false, message: late }), timeoutMs);
    child.once('message', (reply) => settle(reply as SiteReply));
    child.once('error', (error) => settle({ ok: false, message: error.message }));
    child.once('exit', () => settle({ ok: false, message: ended }));
  });
}
