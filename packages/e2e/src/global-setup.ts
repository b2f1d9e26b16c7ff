import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { attach } from '@security-optimizer/guard/testing';
import { findFreePort } from '@security-optimizer/sandbox/lib/ports';
import { findNativePhpProblem } from '@security-optimizer/sandbox/php/native';
import { startEmbeddedWordPress } from '@security-optimizer/sandbox/stacks/embedded';
import { findProductionStackProblem, startProductionStack } from '@security-optimizer/sandbox/stacks/production';
import { fetchCurrentWordPress } from '@security-optimizer/sandbox/wordpress/download';
import type { ProvidedContext } from 'vitest';
import type { TestProject } from 'vitest/node';
import { startChromium } from './browser/chromium.js';
import { answerConsent, logIn } from './http/session.js';
import { policyPushed, startGuard, stopGuard } from './stacks/guard-process.js';
import { type MissingStack, type Stack, type StackKind, stackKinds } from './stacks/stack.js';
import { prepareSite, stopWordPress } from './stacks/wordpress.js';

const starters: Record<StackKind, (dir: string, ends: (() => Promise<void>)[]) => Promise<Stack | MissingStack>> = {
  embedded,
  production: (dir, ends) => production('production', dir, ends),
  'nginx-defaults': (dir, ends) => production('nginx-defaults', dir, ends),
};

/**
 * Starts each stack that can run here once for the whole run and provides it to the test files. `E2E_STACK` selects one
 * of them, so that runs with one stack each can run in parallel. Chromium is started once, too.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const dir = mkdtempSync(join(tmpdir(), 'so-e2e-'));
  const ends: (() => Promise<void>)[] = [];
  const end = async () => {
    for (const each of ends.reverse().splice(0)) await each();
    rmSync(dir, { recursive: true, force: true });
  };
  try {
    const kinds = parseStackKinds(process.env.E2E_STACK ?? '');
    // Short names, since socket paths have a maximum length.
    const starting = [browser(ends), ...kinds.map((kind) => starters[kind](join(dir, kind.charAt(0)), ends))] as const;
    // If one fails, the others finish starting first. Only then can all of them be stopped.
    await Promise.allSettled(starting);
    const [chromium, ...stacks] = await Promise.all(starting);
    for (const stack of stacks) if ('problem' in stack) say(`The ${stack.kind} stack does not run: ${stack.problem}`);
    // A stack that is selected by name may be missing; its suites report that they did not run.
    if (kinds.includes('embedded') && stacks.every((stack) => 'problem' in stack))
      throw new Error('No stack can run on this machine.');
    project.provide('stacks', stacks);
    project.provide('isUsualMissing', findProductionStackProblem() !== null);
    project.provide('chromium', chromium);
    return end;
  } catch (error) {
    await end();
    throw error;
  }
}

function parseStackKinds(list: string): readonly StackKind[] {
  if (list === '') return stackKinds;
  const kind = stackKinds.find((known) => known === list);
  if (kind === undefined) throw new Error(`E2E_STACK is ${list}; it can be ${stackKinds.join(', ')}.`);
  return [kind];
}

/** Suites without a browser still run if Chromium is missing. */
async function browser(ends: (() => Promise<void>)[]): Promise<ProvidedContext['chromium']> {
  try {
    const server = await startChromium();
    ends.push(() => server.close());
    return { endpoint: server.wsEndpoint() };
  } catch (error) {
    return { problem: (error as Error).message };
  }
}

async function embedded(dir: string, ends: (() => Promise<void>)[]): Promise<Stack | MissingStack> {
  const problem = await findNativePhpProblem();
  if (problem !== null) return { kind: 'embedded', problem };
  const port = await findFreePort();
  const siteUrl = `http://127.0.0.1:${port}`;
  const wordpress = await startEmbeddedWordPress({ dataDir: dir, php: 'native', siteUrl, log: say });
  printRelease('embedded', wordpress.release);
  return startGuardInFront({ kind: 'embedded', dir, port, siteUrl, wordpress, ends, stop: wordpress.stop });
}

async function production(
  kind: 'production' | 'nginx-defaults',
  dir: string,
  ends: (() => Promise<void>)[],
): Promise<Stack | MissingStack> {
  const problem = findProductionStackProblem();
  if (problem !== null) return { kind, problem };
  const port = await findFreePort();
  const siteUrl = `http://127.0.0.1:${port}`;
  const nginx = kind === 'production' ? 'tuned' : 'defaults';
  const { release, fallbackReason } = await fetchCurrentWordPress({ log: say });
  const wordpress = await startProductionStack({ dir, siteUrl, nginx, wordpressVersion: release, log: say });
  printRelease(kind, release, fallbackReason);
  return startGuardInFront({ kind, dir, port, siteUrl, wordpress, ends, stop: wordpress.stop });
}

async function startGuardInFront(parts: {
  readonly kind: StackKind;
  readonly dir: string;
  readonly port: number;
  readonly siteUrl: string;
  readonly wordpress: { wordpressDir: string; upstream: string; user: string; password: string };
  readonly ends: (() => Promise<void>)[];
  readonly stop: () => Promise<void>;
}): Promise<Stack> {
  const { kind, dir, port, siteUrl, wordpress } = parts;
  const stack: Stack = {
    kind,
    dir,
    wordpressDir: wordpress.wordpressDir,
    guardDir: join(dir, 'guard'),
    url: siteUrl,
    port,
    upstreamPort: Number(new URL(wordpress.upstream).port),
    user: wordpress.user,
    password: wordpress.password,
  };
  parts.ends.push(async () => {
    await stopGuard(stack);
    // A test may have restarted the web server, so it is found by its record.
    await stopWordPress(stack);
    await parts.stop();
  });
  await prepareSite(stack);
  await attach({
    wordpressDir: stack.wordpressDir,
    upstream: wordpress.upstream,
    listen: { host: '127.0.0.1', port },
    dataDir: stack.guardDir,
    requireGuard: 'force',
  });
  await startGuard(stack);
  await policyPushed(stack);
  // Otherwise its dialog would cover every page of every suite. The suite about it resets the consent.
  await answerConsent(stack, await logIn(stack));
  return stack;
}

function printRelease(kind: StackKind, release: string, why: string | null = null): void {
  say(`The ${kind} stack runs WordPress ${release}${why === null ? '' : ` (${why})`}.`);
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
