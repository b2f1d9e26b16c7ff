import { existsSync } from 'node:fs';
import { type Browser, chromium } from 'playwright-core';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/**
 * Starts Chromium so that letters look the same on every machine: no hinting, no colours at their edges, one pixel for
 * each CSS pixel. `CHROMIUM` names another program than the system's.
 */
export function launchForPictures(): Promise<Browser> {
  const executablePath = process.env.CHROMIUM ?? PLACES.find(existsSync);
  if (executablePath === undefined)
    throw new Error('Chromium is not installed. CHROMIUM names it where it is elsewhere.');
  return chromium.launch({
    executablePath,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--font-render-hinting=none',
      '--disable-lcd-text',
      '--force-device-scale-factor=1',
      '--force-color-profile=srgb',
      '--hide-scrollbars',
    ],
  });
}
