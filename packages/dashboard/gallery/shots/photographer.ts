import type { Browser, Page } from 'playwright-core';
import { LOOKS, type LookName } from '../example.js';
import type { Area } from '../stage/picture-area.js';
import { crop, readPicture } from './picture.js';
import { type Shot, shotOf, shotOfPart } from './shot.js';
import { type Showing, stageAddress } from './wanted.js';

/** Pictures by example, or why there are none. */
export type Taken = ReadonlyMap<string, Shot> | Error;

/** Of the window, CSS pixels. */
const HEIGHTS: Readonly<Record<number, number>> = { 1440: 1000, 1000: 900, 390: 844 };
const TIMEOUT_MS = 15_000;

/** Takes pictures in one look. The stage stays open from one to the next; after a failure a new one is opened. */
export async function takeInLook(
  browser: Browser,
  origin: string,
  look: LookName,
  showings: readonly Showing[],
  taken: (showing: Showing, pictures: Taken) => void,
): Promise<void> {
  let stage: Page | null = null;
  let opening: Error | null = null;
  for (const showing of showings) {
    if (opening !== null) {
      taken(showing, opening);
      continue;
    }
    try {
      stage ??= await openStage(browser, origin, look);
      taken(showing, await take(stage, showing));
    } catch (error) {
      taken(showing, error as Error);
      // A stage that does not open will not do so for the next one.
      if (stage === null) opening = error as Error;
      await stage?.context().close();
      stage = null;
    }
  }
  await stage?.context().close();
}

async function openStage(browser: Browser, origin: string, look: LookName): Promise<Page> {
  const { width } = LOOKS[look];
  const context = await browser.newContext({
    viewport: { width, height: HEIGHTS[width] ?? 900 },
    deviceScaleFactor: 1,
    locale: 'en-GB',
    timezoneId: 'UTC',
    colorScheme: 'light',
  });
  const page = await context.newPage();
  page.setDefaultTimeout(TIMEOUT_MS);
  await page.goto(stageAddress(origin, look));
  await page.waitForFunction(() => window.galleryStage !== undefined);
  return page;
}

async function take(page: Page, { show, examples }: Showing): Promise<Taken> {
  // What waits for the pointer or the keyboard must not wait for ever.
  const areas = await within(
    page.evaluate((id) => window.galleryStage?.show(id), show),
    `${show} was not shown in time.`,
  );
  if (areas === undefined) throw new Error('The stage is gone.');
  const isFixed = areas.some(({ fixed }) => fixed);
  const png = await page.screenshot({ animations: 'disabled', fullPage: !isFixed, ...clipOf(areas) });
  const [first, ...more] = areas;
  if (first === undefined || more.length === 0) return new Map(examples.map((id) => [id, shotOf(png)]));
  const sheet = readPicture(png);
  return new Map(areas.map(({ id, x, y, width, height }) => [id, shotOfPart(crop(sheet, x, y, width, height))]));
}

/** One example alone is cut out by the browser. */
function clipOf([first, ...more]: readonly Area[]): { clip?: Pick<Area, 'x' | 'y' | 'width' | 'height'> } {
  if (first === undefined || more.length > 0) return {};
  const { x, y, width, height } = first;
  return { clip: { x, y, width, height } };
}

async function within<Value>(work: Promise<Value>, otherwise: string): Promise<Value> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(otherwise)), TIMEOUT_MS);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
