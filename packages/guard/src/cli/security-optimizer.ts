#!/usr/bin/env node
import { version } from '../lib/version.js';
import { ConfigError } from '../load-config.js';
import { DataDirInUse } from '../storage/data-dir-lock.js';
import { StorageError } from '../storage/storage-error.js';
import { attachCommand } from './attach.js';
import { awayModeCommand } from './away-mode.js';
import { type Command, CommandError, UsageError } from './command.js';
import { detachCommand } from './detach.js';
import { loginAccessCommand } from './login-access.js';
import { loginUrlCommand } from './login-url.js';
import { pauseCommand } from './pause.js';
import { resumeCommand } from './resume.js';
import { serveCommand } from './serve.js';
import { statusCommand } from './status.js';
import { twoFactorCommand } from './two-factor.js';
import { unblockCommand } from './unblock.js';

const commands: readonly Command[] = [
  attachCommand,
  detachCommand,
  serveCommand,
  statusCommand,
  unblockCommand,
  loginUrlCommand,
  loginAccessCommand,
  twoFactorCommand,
  awayModeCommand,
  pauseCommand,
  resumeCommand,
];

function overview(): string {
  const width = Math.max(...commands.map((command) => command.name.length));
  return [
    `Security Optimizer ${version}: protects WordPress sites from in front.`,
    '',
    'security-optimizer COMMAND [options]',
    '',
    ...commands.map((command) => `  ${command.name.padEnd(width)}  ${command.summary}`),
    '',
    'security-optimizer COMMAND --help tells the options of a command.',
    '',
  ].join('\n');
}

/** @returns the exit code: 0 done, 1 could not be done or problems found, 2 called wrongly */
async function main([name, ...args]: readonly string[]): Promise<number> {
  if (name === '--version') return print(`${version}\n`);
  if (name === undefined || name === '--help' || name === 'help') {
    print(overview());
    return name === undefined ? 2 : 0;
  }
  const command = commands.find((entry) => entry.name === name);
  if (!command) {
    process.stderr.write(`Unknown command ${name}. Commands: ${commands.map((entry) => entry.name).join(', ')}.\n`);
    return 2;
  }
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
