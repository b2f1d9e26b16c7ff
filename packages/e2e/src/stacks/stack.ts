import { describe, inject } from 'vitest';

const names = {
  embedded: 'PHP with SQLite',
  production: 'nginx, PHP-FPM and MariaDB',
  'nginx-defaults': 'nginx with its defaults, PHP-FPM and MariaDB',
} as const;

export type StackKind = keyof typeof names;

export const stackKinds = Object.keys(names) as StackKind[];

/** A WordPress behind guard. Plain data, since the global set-up sends it to each test file. */
export interface Stack {
  readonly kind: StackKind;
  /** Folder of everything that belongs to the stack. */
  readonly dir: string;
  readonly wordpressDir: string;
  readonly guardDir: string;
  /** Address of the site, through guard, without a slash at the end. */
  readonly url: string;
  /** Port on which guard listens. */
  readonly port: number;
  /** Port of WordPress's own web server. */
  readonly upstreamPort: number;
  readonly user: string;
  readonly password: string;
}

/** A kind of stack that can't run on this machine, and why. */
export interface MissingStack {
  readonly kind: StackKind;
  readonly problem: string;
}

declare module 'vitest' {
  export interface ProvidedContext {
    readonly stacks: readonly (Stack | MissingStack)[];
    /** Whether the stack that most sites have can't run on this machine. */
    readonly isUsualMissing: boolean;
  }
}

/** The stack that most sites have. */
const USUAL: StackKind = 'nginx-defaults';

/** Limit of all tests of a suite, milliseconds. */
interface SuiteOptions {
  readonly timeout?: number;
}

/**
 * Defines a suite of what is the same on every stack, such as what an owner sees, or what guard decides by itself. It
 * runs once, on the stack that most sites have; where that one can't run here, on the embedded one.
 */
export function onUsualStack(title: string, define: (stack: Stack) => void, options: SuiteOptions = {}): void {
  onStacks([inject('isUsualMissing') ? 'embedded' : USUAL], title, define, options);
}

/**
 * Defines a suite of what depends on WordPress's release, its database or its web server: hooks and queries of the
 * connector, which paths are the same file, how many requests are worked on at once. It runs on the stack that most sites
 * have and on the one that is least like it.
 */
export function onUnlikeStacks(title: string, define: (stack: Stack) => void): void {
  onStacks([USUAL, 'embedded'], title, define);
}

/** Defines a suite of what depends on the web server's settings, too, such as how long the head of an answer may be. */
export function onEveryStack(title: string, define: (stack: Stack) => void): void {
  onStacks(stackKinds, title, define);
}

/**
 * With `E2E_ALL` every suite runs on every stack. One that can't run here is listed as skipped, with the reason.
 *
 * @param kinds stacks on which the suite may come to another result than on the rest
 */
function onStacks(
  kinds: readonly StackKind[],
  title: string,
  define: (stack: Stack) => void,
  options: SuiteOptions = {},
): void {
  const isWanted = ({ kind }: Stack | MissingStack) => process.env.E2E_ALL === '1' || kinds.includes(kind);
  const stacks = inject('stacks').filter(isWanted);
  // A test file must contain a suite.
  if (stacks.length === 0) describe.skip(`${title} not run: not on this stack`, () => {});
  for (const stack of stacks) {
    const name = `${title} [${names[stack.kind]}]`;
    if ('problem' in stack) {
      describe.skip(`${name} not run: ${stack.problem}`, () => {});
    } else {
      describe(name, options, () => define(stack));
    }
  }
}
