#!/usr/bin/env node
import { isPostgresUrl } from '../config/database-url.js';
import { ConfigError } from '../config/load-config.js';
import { guideFile } from '../lib/guides.js';
import { lineText } from '../lib/plain-text.js';
import { SocketActivationError } from '../lib/supervisor.js';
import { version } from '../lib/version.js';
import { DataDirInUseError, LockFileError } from '../storage/data-dir-lock.js';
import { StorageError } from '../storage/storage-error.js';
import { SiteFilesError } from '../wordpress/site-files.js';
import { actAsDataOwner } from './act-as-data-owner.js';
import { type Command, CommandError, UsageError } from './command.js';
import { makeInert } from './inert-output.js';
import { settleOutputs } from './unfinished.js';

/**
 * The commands by name. Each is loaded when it is called, so that the service starts fast and holds no code that it
 * never uses.
 */
const commands: ReadonlyMap<string, () => Promise<Command>> = new Map([
  ['sites add', async () => (await import('./attach-command.js')).attachCommand],
  ['sites remove', async () => (await import('./detach.js')).detachCommand],
  ['sites list', async () => (await import('./sites.js')).listSitesCommand],
  ['sites show', async () => (await import('./sites.js')).showSiteCommand],
  ['sites export', async () => (await import('./sites.js')).exportSitesCommand],
  ['sites import', async () => (await import('./sites.js')).importSitesCommand],
  ['share-connector', async () => (await import('./share-connector-command.js')).shareConnectorCommand],
  ['settings export', async () => (await import('./settings.js')).exportSettingsCommand],
  ['settings import', async () => (await import('./settings.js')).importSettingsCommand],
  ['privacy export', async () => (await import('./privacy.js')).exportPersonCommand],
  ['privacy erase', async () => (await import('./privacy.js')).erasePersonCommand],
  ['back-up', async () => (await import('./backup.js')).backUpCommand],
  ['restore', async () => (await import('./restore.js')).restoreCommand],
  ['migrate sqlite-to-postgres', async () => (await import('./migrate.js')).migrateToPostgresCommand],
  ['erase', async () => (await import('./erase.js')).eraseCommand],
  ['serve', async () => (await import('./serve.js')).serveCommand],
  ['status', async () => (await import('./status.js')).statusCommand],
  ['doctor', async () => (await import('./doctor.js')).doctorCommand],
  ['unblock', async () => (await import('./recovery.js')).unblockCommand],
  ['login-url', async () => (await import('./recovery.js')).loginUrlCommand],
  ['login-access', async () => (await import('./recovery.js')).loginAccessCommand],
  ['two-factor', async () => (await import('./recovery.js')).twoFactorCommand],
  ['away-mode', async () => (await import('./recovery.js')).awayModeCommand],
  ['pause', async () => (await import('./recovery.js')).pauseCommand],
  ['resume', async () => (await import('./recovery.js')).resumeCommand],
]);

/** Other names of commands. */
const aliases: ReadonlyMap<string, string> = new Map([
  ['attach', 'sites add'],
  ['detach', 'sites remove'],
]);

/** First words of two-word commands. */
const GROUPS: ReadonlySet<string> = new Set(['sites', 'settings', 'privacy', 'migrate']);

/** The command's name, of one or two words, and its arguments. */
function readCommand(positionals: readonly string[]): [name: string | undefined, ...args: readonly string[]] {
  const [first, second, ...rest] = positionals;
  if (GROUPS.has(first ?? '') && second !== undefined && !second.startsWith('-') && second !== 'help')
    return [`${first} ${second}`, ...rest];
  return [aliases.get(first ?? '') ?? first, ...positionals.slice(1)];
}

/** The commands of a group, for `GROUP --help`. */
async function groupOverview(group: string): Promise<string> {
  const names = [...commands.keys()].filter((name) => name.startsWith(`${group} `));
  const all = await Promise.all(names.map((name) => commands.get(name)?.()));
  const width = Math.max(...names.map((name) => name.length));
  return [
    ...all.map((command) => `  ${command?.name.padEnd(width)}  ${command?.summary}`),
    '',
    `security-optimizer ${group} COMMAND --help tells the options of a command.`,
    '',
  ].join('\n');
}

async function overview(): Promise<string> {
  const all = await Promise.all([...commands.values()].map((load) => load()));
  const width = Math.max(...all.map((command) => command.name.length));
  return [
    `Security Optimizer ${version}: protects WordPress sites from in front.`,
    '',
    'security-optimizer COMMAND [options]',
    '',
    ...all.map((command) => `  ${command.name.padEnd(width)}  ${command.summary}`),
    '',
    'security-optimizer COMMAND --help tells the options of a command.',
    '',
  ].join('\n');
}

/** @returns the exit code: 0 success, 1 failure or problems found, 2 wrong usage */
async function main(positionals: readonly string[]): Promise<number> {
  const [name, ...args] = readCommand(positionals);
  if (name === '--version') return print(`${version}\n`);
  if (name === undefined || name === '--help' || name === 'help') {
    print(await overview());
    return name === undefined ? 2 : 0;
  }
  if (GROUPS.has(name)) {
    const text = await groupOverview(name);
    if (args.includes('--help') || args[0] === 'help') return print(text);
    process.stderr.write(`${name} needs one of these commands:\n${text}`);
    return 2;
  }
  const load = commands.get(name);
  if (!load) {
    process.stderr.write(`Unknown command ${lineText(name)}. Commands: ${[...commands.keys()].join(', ')}.\n`);
    return 2;
  }
  const command = await load();
  if (args.includes('--help')) return print(`${command.help}\n`);
  const code = await runCommand(name, command, args);
  await settleOutputs(code === 0);
  return code;
}

async function runCommand(name: string, command: Command, args: readonly string[]): Promise<number> {
  try {
    await actAsDataOwner(name, args);
    return await command.run(args);
  } catch (error) {
    process.stderr.write(`${explain(error)}\n`);
    if (!(error instanceof UsageError)) return 1;
    process.stderr.write(`See: security-optimizer ${name} --help\n`);
    return 2;
  }
}

let isOutputLost = false;

/** Standard output ends early, as with `head`, or is a file on a full disk. The command itself goes on to its end. */
function noteLostOutput({ code }: NodeJS.ErrnoException): void {
  if (!isOutputLost && code !== 'EPIPE') process.stderr.write(`The output could not be written (${code}).\n`);
  isOutputLost = true;
  process.exitCode = 1;
}

function print(text: string): 0 {
  process.stdout.write(text);
  return 0;
}

/** The error as text for the user. Only unexpected errors have a stack trace. */
function explain(error: unknown): string {
  const EXPECTED_ERRORS = [
    UsageError,
    CommandError,
    SiteFilesError,
    DataDirInUseError,
    LockFileError,
    SocketActivationError,
  ];
  if (EXPECTED_ERRORS.some((kind) => error instanceof kind)) return (error as Error).message;
  if (error instanceof ConfigError) {
    return `The configuration has mistakes:\n${error.mistakes.map((mistake) => `  ${lineText(mistake)}`).join('\n')}`;
  }
  if (error instanceof StorageError) {
    const summary = `The database can’t be used (${error.fault}): ${error.detail}`;
    // Errors of PostgreSQL begin with the server.
    if (isPostgresUrl(error.detail)) {
      return `${summary}\nGuard does not start without it, because your settings are in it. Check \`database\` and the server (${guideFile('postgresql.md')}).`;
    }
    if (error.fault === 'cannot_open' || error.fault === 'read_only') {
      return `${summary}\nThis user must be able to write it, and in its folder, which needs room: run the command as root, or as the user who owns the data folder.`;
    }
    return `${summary}\nGuard does not start without it, because your settings are in it.`;
  }
  const unknownStep = /^corrupted migrations: previously executed migration (\S+) is missing$/.exec(
    String((error as Error).message),
  )?.[1];
  if (unknownStep !== undefined) {
    return `The database was used by a newer version of guard, which made the step ${unknownStep} in it. Nothing was changed. Start that version again, or restore the data folder from before the update (${guideFile('operations.md')}, "Going back").`;
  }
  const { code, path, address, port, stack } = error as NodeJS.ErrnoException & { address?: string; port?: number };
  if (address?.startsWith('/')) {
    if (code === 'EADDRINUSE')
      return `Another program listens on the socket ${address}, or it is another kind of file.`;
    // Also for a missing folder.
    if (code === 'EACCES') return `${address}: this user can’t create a socket there; check that its folder exists.`;
  }
  if (code === 'EADDRINUSE') return `Another program listens on ${address}:${port}.`;
  if (code === 'EACCES' && port !== undefined) return `This user may not listen on port ${port}.`;
  if (code === 'ENOSPC' || code === 'EDQUOT') return `The disk${path === undefined ? '' : ` of ${path}`} is full.`;
  if (code !== undefined && path !== undefined) return `${path}: ${code}`;
  return stack ?? String(error);
}

for (const stream of [process.stdout, process.stderr]) makeInert(stream);
process.stdout.on('error', noteLostOutput);
const exitCode = await main(process.argv.slice(2));
process.exitCode = isOutputLost ? exitCode || 1 : exitCode;
