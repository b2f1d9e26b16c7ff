import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { findStatus, RefusedPath, shown } from '../lib/pinned-folder.js';
import { becomeUser, isRoot } from '../lib/privileges.js';
import { parseReportedFolder, READ_FOLDER_PHP } from '../wordpress/must-use-folder.js';
import type { SiteCall, SiteResults, SiteTask } from '../wordpress/site-files.js';
import { type EnteredWordPress, enterWordPress } from './open-site.js';

/** Allows for what a configuration may print before and after the result. */
const MAX_PRINTED_BYTES = 1_048_576;
/** Where systems keep programs, for a process without PATH. */
const USUAL_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/**
 * Has PHP of the command line read WordPress's configuration. That runs code of the site: never as root, and with only
 * the owner's primary group. The group of wp-config.php is not used, since the owner may not be a member of it.
 */
export async function queryMuPluginsFolder(
  call: SiteCall,
  task: Extract<SiteTask, { kind: 'ask-folder' }>,
): Promise<SiteResults['ask-folder']> {
  takeCodeOwner(enterWordPress(call.folders.wordpressDir));
  const uid = process.geteuid?.() ?? 0;
  if (call.owner !== undefined && call.owner !== uid) {
    throw new RefusedPath(`${shown('')} belongs to user ${uid}, and not to user ${call.owner}.`);
  }
  const marker = randomBytes(16).toString('hex');
  const printed = await runPhp(READ_FOLDER_PHP, [marker, task.host, task.path], task.timeoutMs);
  return { folder: parseReportedFolder(printed, marker), uid };
}

/** A user who owns no files. */
const NOBODY = 65_534;

function takeCodeOwner({ folder, model }: EnteredWordPress): void {
  if (!isRoot()) return;
  const owners = [folder.uid, model.file.uid, findStatus('wp-content')?.uid ?? 0];
  becomeUser(owners.find((uid) => uid !== 0) ?? NOBODY, { fallbackGroup: 0, withGroups: false });
}

/**
 * Runs a program in PHP without input, with an empty environment, and with a timeout for all processes that it has
 * started.
 * @returns what it has printed; empty when there is no PHP
 */
function runPhp(code: string, args: readonly string[], timeoutMs: number): Promise<string> {
  const settings = ['display_errors=0', 'log_errors=0', 'auto_prepend_file=', 'auto_append_file='];
  return new Promise((resolve) => {
    const php = spawn('php', [...settings.flatMap((each) => ['-d', each]), '-r', code, '--', ...args], {
      stdio: ['ignore', 'pipe', 'ignore'],
      env: { PATH: process.env.PATH ?? USUAL_PATH },
      // A process group of its own, which can be killed as a whole.
      detached: true,
    });
    const chunks: Buffer[] = [];
    let bytes = 0;
    const end = () => {
      try {
        if (php.pid !== undefined) process.kill(-php.pid, 'SIGKILL');
      } catch {
        // All of them have ended.
      }
    };
    const settle = () => {
      clearTimeout(timer);
      end();
      resolve(Buffer.concat(chunks).toString('utf8'));
    };
    const timer = setTimeout(settle, timeoutMs);
    php.stdout.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > MAX_PRINTED_BYTES) settle();
      else chunks.push(chunk);
    });
    php.once('exit', end);
    php.once('close', settle);
    php.once('error', settle);
  });
}
