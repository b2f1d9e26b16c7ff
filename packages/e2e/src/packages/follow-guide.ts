import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type GuideCommand, replaceAll } from '../suites/installs/helpers.js';
import { npmEnv } from './make-packages.js';

const run = promisify(execFile);

export interface GuideOptions {
  /** Working directory at the start of each step. */
  readonly dir: string;
  /** Texts of the guide, and their replacements in the test. */
  readonly table: Readonly<Record<string, string>>;
  /** Folder of programs that the guide installs. */
  readonly bin: string;
  /** Replaces a command that needs an init system or a user; undefined for all others. */
  substitute(command: string): (() => Promise<unknown>) | undefined;
  /** Runs code before and after each command. */
  around?(command: GuideCommand, work: () => Promise<void>): Promise<void>;
}

export interface FollowedGuide {
  /** Runs the commands in their order. `cd` applies until the end of its step. */
  follow(commands: readonly GuideCommand[]): Promise<void>;
  /** Runs one command. @returns what it printed. Throws with all that it printed when it fails */
  shell(command: string, cwd?: string): Promise<string>;
  /** The last output of each command. */
  readonly printed: ReadonlyMap<string, string>;
}

/** Follows a guide on this machine, with the names of the test. */
export function followGuide({ dir, table, bin, substitute, around }: GuideOptions): FollowedGuide {
  const printed = new Map<string, string>();
  const env = { ...npmEnv, PATH: `${bin}:${process.env.PATH}` };

  async function shell(command: string, cwd = dir): Promise<string> {
    try {
      return (await run('sh', ['-e', '-c', replaceAll(command, table)], { cwd, env, timeout: 120_000 })).stdout;
    } catch (error) {
      const { stdout, stderr } = error as { stdout?: string; stderr?: string };
      throw new Error(`${command}\n${stdout}${stderr}`, { cause: error });
    }
  }

  async function follow(commands: readonly GuideCommand[]): Promise<void> {
    let cwd = dir;
    let last = '';
    for (const each of commands) {
      const { step, command } = each;
      if (step !== last) cwd = dir;
      last = step;
      const work = async () => {
        if (command.startsWith('cd ')) cwd = replaceAll(command.slice('cd '.length), table);
        else await (substitute(command)?.() ?? shell(command, cwd).then((text) => printed.set(command, text)));
      };
      await (around?.(each, work) ?? work());
    }
  }

  return { follow, shell, printed };
}
