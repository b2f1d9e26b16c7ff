#!/usr/bin/env node
import { version } from '../lib/version.js';
import { ConfigError } from '../load-config.js';
import { DataDirInUse } from '../storage/data-dir-lock.js';
import { StorageError } from '../storage/storage-error.js';
import { type Command, CommandError, UsageError } from './command.js';

/** Each command by its name. Loaded when it is called: the service must start fast and hold nothing that it never uses. */
const commands: ReadonlyMap<string, () => Promise<Command>> = new Map([
  ['attach', async () => (await import('./attach.js')).attachCommand],
  ['detach', async () => (await import('./detach.js')).detachCommand],
  ['serve', async () => (await import('./serve.js')).serveCommand],
  ['status', async () => (await import('./status.js')).statusCommand],
  ['unblock', async () => (await import('./unblock.js')).unblockCommand],
  ['login-url', async () => (await import('./login-url.js')).loginUrlCommand],
  ['login-access', async () => (await import('./login-access.js')).loginAccessCommand],
  ['two-factor', async () => (await import('./two-factor.js')).twoFactorCommand],
  ['away-mode', async () => (await import('./away-mode.js')).awayModeCommand],
  ['pause', async () => (await import('./pause.js')).pauseCommand],
  ['resume', async () => (await import('./resume.js')).resumeCommand],
]);

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

/** @returns the exit code: 0 done, 1 could not be done or problems found, 2 called wrongly */
async function main([name, ...args]: readonly string[]): Promise<number> {
  if (name === '--version') return print(`${version}\n`);
  if (name === undefined || name === '--help' || name === 'help') {
    print(await overview());
    return name === undefined ? 2 : 0;
  }
  const load = commands.get(name);
  if (!load) {
    process.stderr.write(`Unknown command ${name}. Commands: ${[...commands.keys()].join(', ')}.\n`);
    return 2;
  }
  const command = await load();
  if (args.includes('--help')) return print(`${command.help}\n`);
  try {
    return await command.run(args);
  } catch (error) {
    process.stderr.write(`${explain(error)}\n`);
    if (!(error instanceof UsageError)) return 1;
    process.stderr.write(`See: security-optimizer ${name} --help\n`);
    return 2;
  }
}

function print(text: string): 0 {
  process.stdout.write(text);
  return 0;
}

/** What went wrong in words for the one who called; a stack only for faults of our own. */
function explain(error: unknown): string {
  if (error instanceof UsageError || error instanceof CommandError || error instanceof DataDirInUse) {
    return error.message;
  }
  if (error instanceof ConfigError) {
    return `The configuration has mistakes:\n${error.mistakes.map((mistake) => `  ${mistake}`).join('\n')}`;
  }
  if (error instanceof StorageError) {
    return `The database can’t be used (${error.fault}): ${error.detail}\nGuard does not start without it, because your settings are in it.`;
  }
  const { code, path, address, port, stack } = error as NodeJS.ErrnoException & { address?: string; port?: number };
  if (code === 'EADDRINUSE') return `Another program listens on ${address}:${port}.`;
  if (code === 'EACCES' && port !== undefined) return `This user may not listen on port ${port}.`;
  if (code !== undefined && path !== undefined) return `${path}: ${code}`;
  return stack ?? String(error);
}

process.exitCode = await main(process.argv.slice(2));
