import { describe, inject } from 'vitest';

/** A WordPress behind guard, as the tests know it. Plain data: it travels from the set-up to each test file. */
export interface Stack {
  readonly kind: 'embedded' | 'production';
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
  readonly kind: Stack['kind'];
  readonly problem: string;
}

declare module 'vitest' {
  export interface ProvidedContext {
    readonly stacks: readonly (Stack | MissingStack)[];
  }
}

const names = {
  embedded: 'PHP with SQLite',
  production: 'nginx, PHP-FPM and MariaDB',
} as const;

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

/** Defines the same suite for every stack. One that can't run here is listed as skipped, with the reason. */
export function onEveryStack(title: string, define: (stack: Stack) => void): void {
  for (const stack of inject('stacks')) {
    const name = `${title} [${names[stack.kind]}]`;
    if ('problem' in stack) {
      describe.skip(`${name} not run: ${stack.problem}`, () => {});
    } else {
      describe(name, () => define(stack));
    }
  }
}
