/** One command of the command line. */
export interface Command {
  readonly name: string;
  /** One line for the list of commands. */
  readonly summary: string;
  /** Everything about its options, for `--help`. */
  readonly help: string;
  /**
   * @param args arguments after the command's name
   * @returns the exit code
   * @throws UsageError for bad options, CommandError for what can't be done
   */
  run(args: readonly string[]): Promise<number>;
}

/** The command line was called with bad options; exit code 2. */
export class UsageError extends Error {}

/** The command can't do what it was asked; the message says why and what to do. Exit code 1. */
export class CommandError extends Error {}
