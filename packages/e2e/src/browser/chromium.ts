import { existsSync } from 'node:fs';
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  type BrowserServer,
  chromium,
} from 'playwright-core';
import { inject } from 'vitest';
import type { Session } from '../http/session.js';
import type { Stack } from '../stacks/stack.js';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Endpoint of the Chromium of this run, or the reason why there is none. */
    readonly chromium: { readonly endpoint: string } | { readonly problem: string };
  }
}

/** Long enough for a busy machine. A wait ends as soon as its condition is true. */
const WAIT_MS = 100_000;

/** The headless shell renders the same pages with a third of the processor time. */
const PATHS = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'];

/** Starts Chromium, once for the whole run. `CHROMIUM` names another program than Debian's. */
export async function startChromium(): Promise<BrowserServer> {
  const executablePath = process.env.CHROMIUM ?? PATHS.find(existsSync);
  if (executablePath === undefined) throw new Error('it is not installed; CHROMIUM names it where it is elsewhere');
  return await chromium.launchServer({
    executablePath,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
}

/** Connects to the running Chromium. Each window has its own profile. Closing this browser closes its windows only. */
export async function openChromium(): Promise<Browser> {
  const running = inject('chromium');
  if ('problem' in running) throw new Error(`Chromium does not run: ${running.problem}`);
  const browser = await chromium.connect(running.endpoint);
  const newContext = browser.newContext.bind(browser);
  browser.newContext = async (options) => {
    const context = await newContext(options);
    context.setDefaultTimeout(WAIT_MS);
    return context;
  };
  return browser;
}

/** Opens a browser window with the session of a logged-in user. */
export async function openWindow(
  browser: Browser,
  stack: Stack,
  session: Session,
  options: BrowserContextOptions = {},
): Promise<BrowserContext> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options });
  await context.addCookies(
    session.cookie.split('; ').map((pair) => {
      const at = pair.indexOf('=');
      return { name: pair.slice(0, at), value: pair.slice(at + 1), url: stack.url };
    }),
  );
  return context;
}
