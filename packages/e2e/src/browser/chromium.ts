import { type Browser, type BrowserContext, type BrowserContextOptions, chromium } from 'playwright-core';
import type { Session } from '../http/session.js';
import type { Stack } from '../stacks/stack.js';

/** Starts Chromium with a fresh profile. `CHROMIUM` names another program than Debian's. */
export function launchChromium(): Promise<Browser> {
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
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

/** A browser window of someone who has logged in before. */
export async function windowOf(
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
