import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { LookName } from '../example.js';
import { LOOKS } from '../example.js';
import { differenceOf, differences, forget, keep, keptNames } from './album.js';
import { launchForPictures } from './chromium.js';
import { type Taken, takeInLook } from './photographer.js';
import { pictureName, type Showing, wantedShowings } from './wanted.js';

/** `npm run gallery -- --accept`: the pictures of today are right. */
const accepting = process.env.GALLERY_ACCEPT === '1';
/** Windows that are worked in at a time. */
const WINDOWS = 3;
/** Pictures that are taken once more before they count as different; where more are, it was no accident. */
const MOST_RETRIES = 12;

const showings = wantedShowings();
const taken = new Map<Showing, Taken>();
let browser: Browser;
let retries = 0;

beforeAll(async () => {
  browser = await launchForPictures();
  const looks = Object.keys(LOOKS) as LookName[];
  const left = looks.flatMap((look) =>
    shared(
      look,
      showings.filter((showing) => showing.look === look),
    ),
  );
  await Promise.all(
    Array.from({ length: WINDOWS }, async () => {
      for (let next = left.shift(); next !== undefined; next = left.shift()) await takeAll(next.look, next.showings);
    }),
  );
}, 300_000);
afterAll(() => browser?.close());

/** Work of one window: not all of a look, so that both are busy until the end. */
function shared(look: LookName, all: readonly Showing[]): { look: LookName; showings: readonly Showing[] }[] {
  const middle = Math.ceil(all.length / 2);
  return [
    { look, showings: all.slice(0, middle) },
    { look, showings: all.slice(middle) },
  ];
}

function takeAll(look: LookName, wanted: readonly Showing[]): Promise<void> {
  return takeInLook(browser, inject('galleryOrigin'), look, wanted, (showing, result) => taken.set(showing, result));
}

describe.each(Object.keys(LOOKS) as LookName[])('in the look %s', (look) => {
  const wanted = showings
    .filter((showing) => showing.look === look)
    .flatMap((showing) => showing.examples.map((example) => ({ showing, example })));

  it.each(wanted)('$example looks as it did', async ({ showing, example }) => {
    const name = pictureName(example, look);
    let difference = compare(name, showing, example);
    if (difference === null) return;
    if (!accepting && retries++ < MOST_RETRIES) {
      // A busy machine may have been caught in the middle of a change.
      await takeAll(look, [showing]);
      difference = compare(name, showing, example);
    }
    const result = taken.get(showing);
    const shot = result instanceof Error ? undefined : result?.get(example);
    if (accepting && shot !== undefined) keep(name, shot);
    else if (difference !== null)
      expect.fail(`${difference} See ${differences}; if it is right: npm run gallery -- --accept`);
  });
});

function compare(name: string, showing: Showing, example: string): string | null {
  const result = taken.get(showing);
  if (result instanceof Error) return result.message;
  const shot = result?.get(example);
  return shot === undefined ? 'It was not drawn.' : differenceOf(name, shot);
}

it('keeps no picture of an example that is gone', () => {
  const names = new Set(
    showings.flatMap(({ look, examples }) => examples.map((example) => pictureName(example, look))),
  );
  const old = keptNames().filter((name) => !names.has(name));
  if (accepting) old.forEach(forget);
  else expect(old).toEqual([]);
});
