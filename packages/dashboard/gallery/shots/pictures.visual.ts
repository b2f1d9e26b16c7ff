import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { LOOKS, type LookName } from '../example.js';
import { baselineNames, compareToBaseline, deleteBaseline, differences, saveBaseline } from './baselines.js';
import { type Captured, captureLook, launchBrowser, listScenes, pictureName, type Scene } from './capture.js';

/** `npm run gallery -- --accept` replaces the baselines. */
const accepting = process.env.GALLERY_ACCEPT === '1';
/** Windows that capture at the same time. */
const WINDOWS = 3;
/** Maximum number of examples that are captured again before they count as different. */
const MAX_RETRIES = 12;

const scenes = listScenes();
const captured = new Map<Scene, Captured>();
let browser: Browser;
let retries = 0;

beforeAll(async () => {
  browser = await launchBrowser();
  const looks = Object.keys(LOOKS) as LookName[];
  const left = looks.flatMap((look) =>
    split(
      look,
      scenes.filter((scene) => scene.look === look),
    ),
  );
  await Promise.all(
    Array.from({ length: WINDOWS }, async () => {
      for (let next = left.shift(); next !== undefined; next = left.shift()) await captureAll(next.look, next.scenes);
    }),
  );
}, 300_000);
afterAll(() => browser?.close());

/** Splits the scenes of a look in two, so that all windows are busy until the end. */
function split(look: LookName, all: readonly Scene[]): { look: LookName; scenes: readonly Scene[] }[] {
  const middle = Math.ceil(all.length / 2);
  return [
    { look, scenes: all.slice(0, middle) },
    { look, scenes: all.slice(middle) },
  ];
}

function captureAll(look: LookName, wanted: readonly Scene[]): Promise<void> {
  return captureLook(browser, inject('galleryOrigin'), look, wanted, (scene, result) => captured.set(scene, result));
}

describe.each(Object.keys(LOOKS) as LookName[])('a picture of the look %s', (look) => {
  const wanted = scenes
    .filter((scene) => scene.look === look)
    .flatMap((scene) => scene.examples.map((example) => ({ scene, example })));

  it.each(wanted)('$example matches its baseline', async ({ scene, example }) => {
    const name = pictureName(example, look);
    let difference = compare(name, scene, example);
    if (difference === null) return;
    if (!accepting && retries++ < MAX_RETRIES) {
      // On a busy machine a screenshot may show the middle of a change.
      await captureAll(look, [scene]);
      difference = compare(name, scene, example);
    }
    const result = captured.get(scene);
    const shot = result instanceof Error ? undefined : result?.get(example);
    if (accepting && shot !== undefined) saveBaseline(name, shot);
    else if (difference !== null)
      expect.fail(`${difference} See ${differences}; if it is right: npm run gallery -- --accept`);
  });
});

function compare(name: string, scene: Scene, example: string): string | null {
  const result = captured.get(scene);
  if (result instanceof Error) return result.message;
  const shot = result?.get(example);
  return shot === undefined ? 'It was not drawn.' : compareToBaseline(name, shot);
}

it('has no baseline without an example', () => {
  const names = new Set(scenes.flatMap(({ look, examples }) => examples.map((example) => pictureName(example, look))));
  const old = baselineNames().filter((name) => !names.has(name));
  if (accepting) old.forEach(deleteBaseline);
  else expect(old).toEqual([]);
});
