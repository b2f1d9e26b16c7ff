import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type GuideCommand, replaceAll } from '../suites/installs/helpers.js';
import { npmEnv } from './make-packages.js';

const run = promisify(execFile);

export interface GuideOptions {
  /** Folder in which each step begins. */
  readonly dir: string;
  /** What stands in the guide, and what the test has in its place. */
  readonly table: Readonly<Record<string, string>>;
  /** Folder of programs that the guide installs. */
  readonly bin: string;
  /** What is done in place of a command that needs an init system or a user; undefined for all others. */
  standIn(command: string): (() => Promise<unknown>) | undefined;
  /** Does something before and after each command. */
  around?(command: GuideCommand, work: () => Promise<void>): Promise<void>;
}

export interface FollowedGuide {
  /** Does what stands there, in its order. `cd` holds to the end of its step. */
  follow(commands: readonly GuideCommand[]): Promise<void>;
  /** Runs one command. @returns what it printed. Throws with all that it printed when it fails */
  shell(command: string, cwd?: string): Promise<string>;
  /** What each command printed last. */
  readonly printed: ReadonlyMap<string, string>;
}

/** Follows a guide on this machine, with names of the test in place of those of the guide. */
export function followGuide({ dir, table, bin, standIn, around }: GuideOptions): FollowedGuide {
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
        else await (standIn(command)?.() ?? shell(command, cwd).then((text) => printed.set(command, text)));
      };
      await (around?.(each, work) ?? work());
    }
  }

  return { follow, shell, printed };
}
