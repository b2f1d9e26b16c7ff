import { describe, inject } from 'vitest';

const names = {
  embedded: 'PHP with SQLite',
  production: 'nginx, PHP-FPM and MariaDB',
  'nginx-defaults': 'nginx with its defaults, PHP-FPM and MariaDB',
} as const;

export type StackKind = keyof typeof names;

export const stackKinds = Object.keys(names) as StackKind[];

/** A WordPress behind guard, as the tests know it. Plain data: it travels from the set-up to each test file. */
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
  }
}

/**
 * Defines a suite for the stack that is quickest to start: what an owner sees is the same on every one. Where it can't
 * run the suite is listed as skipped, with the reason.
 */
export function onQuickestStack(
  title: string,
  define: (stack: Stack) => void,
  options: { readonly timeout?: number } = {},
): void {
  const stack = inject('stacks').find(({ kind }) => kind === 'embedded');
  if (stack === undefined || 'problem' in stack) {
    describe.skip(`${title} not run: ${stack?.problem ?? 'there is no such stack'}`, () => {});
  } else {
    describe(`${title} [${names.embedded}]`, options, () => define(stack));
  }
}

/**
 * Defines a suite for every stack: whatever an attacker may try, and what WordPress must go on doing. One that can't run
 * here is listed as skipped, with the reason.
 */
export function onEveryStack(title: string, define: (stack: Stack) => void): void {
  onStacks(stackKinds, title, define);
}

/**
 * Defines a suite for one stack of each database: what depends on PHP and the database, but not on how long the heads of
 * answers may be and what nginx makes of redirects. It is listed as skipped where a run has only the third stack.
 */
export function onBothDatabases(title: string, define: (stack: Stack) => void): void {
  onStacks(['embedded', 'production'], title, define);
}

function onStacks(kinds: readonly StackKind[], title: string, define: (stack: Stack) => void): void {
  const stacks = inject('stacks').filter(({ kind }) => kinds.includes(kind));
  // A file must hold a suite.
  if (stacks.length === 0) describe.skip(`${title} not run: not on this stack`, () => {});
  for (const stack of stacks) {
    const name = `${title} [${names[stack.kind]}]`;
    if ('problem' in stack) {
      describe.skip(`${name} not run: ${stack.problem}`, () => {});
    } else {
      describe(name, () => define(stack));
    }
  }
}
