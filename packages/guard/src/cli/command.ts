import { type ParseArgsConfig, parseArgs } from 'node:util';
import type { z } from 'zod';

/** One command of the command line. */
export interface Command {
  readonly name: string;
  /** One line for the list of commands. */
  readonly summary: string;
  /** Describes all options, for `--help`. */
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

/** The command can't be carried out; the message says why and what to do. Exit code 1. */
export class CommandError extends Error {}

/**
 * Reads a command's options. Positional arguments are rejected.
 * @throws UsageError that names the option
 */
export function readOptions<const Options extends NonNullable<ParseArgsConfig['options']>>(
  args: readonly string[],
  options: Options,
): ReturnType<typeof parseArgs<{ args: string[]; options: Options; strict: true; allowPositionals: false }>>['values'] {
  try {
    return parseArgs({ args: [...args], options, strict: true, allowPositionals: false }).values;
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

/**
 * Reads a command's options and its positional arguments.
 * @throws UsageError that names the option
 */
export function readArguments<const Options extends NonNullable<ParseArgsConfig['options']>>(
  args: readonly string[],
  options: Options,
): ReturnType<typeof parseArgs<{ args: string[]; options: Options; strict: true; allowPositionals: true }>> {
  try {
    return parseArgs({ args: [...args], options, strict: true, allowPositionals: true });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

/** @throws UsageError when a required option is missing */
export function required<Value>(name: string, value: Value | undefined): Value {
  if (value === undefined || value === '') throw new UsageError(`The option --${name} is missing.`);
  return value;
}

/** Validates an option's value with the schema of its configuration key. */
export function checked<Schema extends z.ZodType>(name: string, schema: Schema, value: unknown): z.output<Schema> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw new UsageError(`--${name}: ${result.error.issues[0]?.message}.`);
}
