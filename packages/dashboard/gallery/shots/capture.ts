import { existsSync } from 'node:fs';
import { type Browser, chromium, type Page } from 'playwright-core';
import { type Group, isAlone, isPage, VARIANTS, type VariantName } from '../example.js';
import { groups } from '../groups/index.js';
import type { Area } from '../stage/picture-area.js';
import { type Screenshot, toPartialScreenshot, toScreenshot } from './baselines.js';
import { crop, readPicture } from './png.js';

/** Screenshots by example, or the error that prevented them. */
export type Captured = ReadonlyMap<string, Screenshot> | Error;

/** Height of the window by its width, CSS pixels. */
const HEIGHTS: Readonly<Record<number, number>> = { 1440: 1000, 1000: 900, 390: 844 };
const TIMEOUT_MS = 15_000;

/** Captures scenes in one variant. The stage stays open between scenes; after a failure a new one is opened. */
export async function captureVariant(
  browser: Browser,
  origin: string,
  variant: VariantName,
  scenes: readonly Scene[],
  captured: (scene: Scene, pictures: Captured) => void,
): Promise<void> {
  let stage: Page | null = null;
  let opening: Error | null = null;
  for (const scene of scenes) {
    if (opening !== null) {
      captured(scene, opening);
      continue;
    }
    try {
      stage ??= await openStage(browser, origin, variant);
      captured(scene, await capture(stage, scene));
    } catch (error) {
      captured(scene, error as Error);
      // If the stage does not open, it will not open for the next scene either.
      if (stage === null) opening = error as Error;
      await stage?.context().close();
      stage = null;
    }
  }
  await stage?.context().close();
}

async function openStage(browser: Browser, origin: string, variant: VariantName): Promise<Page> {
  const { width } = VARIANTS[variant];
  const context = await browser.newContext({
    viewport: { width, height: HEIGHTS[width] ?? 900 },
    deviceScaleFactor: 1,
    locale: 'en-GB',
    timezoneId: 'UTC',
    colorScheme: 'light',
  });
  const page = await context.newPage();
  page.setDefaultTimeout(TIMEOUT_MS);
  await page.goto(stageAddress(origin, variant));
  await page.waitForFunction(() => window.galleryStage !== undefined);
  return page;
}

async function capture(page: Page, { show, examples }: Scene): Promise<Captured> {
  // An example may wait for an element that never appears.
  const areas = await withTimeout(
    page.evaluate((id) => window.galleryStage?.show(id), show),
    `${show} was not shown in time.`,
  );
  if (areas === undefined) throw new Error('The stage is gone.');
  const isFixed = areas.some(({ fixed }) => fixed);
  const png = await page.screenshot({ animations: 'disabled', fullPage: !isFixed, ...toClip(areas) });
  const [first, ...more] = areas;
  if (first === undefined || more.length === 0) return new Map(examples.map((id) => [id, toScreenshot(png)]));
  const sheet = readPicture(png);
  return new Map(
    areas.map(({ id, x, y, width, height }) => [id, toPartialScreenshot(crop(sheet, x, y, width, height))]),
  );
}

/** The browser crops a single example. */
function toClip([first, ...more]: readonly Area[]): { clip?: Pick<Area, 'x' | 'y' | 'width' | 'height'> } {
  if (first === undefined || more.length > 0) return {};
  const { x, y, width, height } = first;
  return { clip: { x, y, width, height } };
}

async function withTimeout<Value>(work: Promise<Value>, message: string): Promise<Value> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(message)), TIMEOUT_MS);
  });
  try {
    return await Promise.race([work, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

/** A scene: what the stage shows at once, and the examples in it that have baselines. */
export interface Scene {
  readonly variant: VariantName;
  /** Id of a group or of an example. */
  readonly show: string;
  readonly examples: readonly string[];
}

/** Variants in which sheets are captured. */
const SHEET_VARIANTS: readonly VariantName[] = ['middle', 'rtl'];

/** All scenes: a sheet for each group, and each page or dialog by itself. */
export function listScenes(): readonly Scene[] {
  return groups.flatMap((group) => [...sheets(group), ...separate(group)]);
}

function sheets(group: Group): Scene[] {
  const examples = group.examples.filter((example) => !isAlone(example)).map(({ id }) => id);
  return examples.length === 0 ? [] : SHEET_VARIANTS.map((variant) => ({ variant, show: group.id, examples }));
}

function separate(group: Group): Scene[] {
  return group.examples.filter(isAlone).flatMap((example) => {
    const variants: readonly VariantName[] = isPage(example) ? ['wide', ...(example.variants ?? [])] : ['middle'];
    return variants.map((variant) => ({ variant, show: example.id, examples: [example.id] }));
  });
}

/** Name of a picture, without its extension. */
export function pictureName(example: string, variant: VariantName): string {
  return `${example}.${variant}`;
}

function stageAddress(origin: string, variant: VariantName): string {
  const { dir, language } = VARIANTS[variant];
  return `${origin}stage.html?pictures&dir=${dir}&language=${language}`;
}

const PROGRAMS = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/**
 * Starts Chromium so that letters look the same on every machine: no hinting, no subpixel colours, one pixel for each
 * CSS pixel. The environment variable CHROMIUM names the program. Default: the system's.
 */
export function launchBrowser(): Promise<Browser> {
  const executablePath = process.env.CHROMIUM ?? PROGRAMS.find(existsSync);
  if (executablePath === undefined) throw new Error('Chromium was not found. Set CHROMIUM to its path.');
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
