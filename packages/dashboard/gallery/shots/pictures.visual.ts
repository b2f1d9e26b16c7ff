import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { VARIANTS, type VariantName } from '../example.js';
import { baselineNames, compareToBaseline, deleteBaseline, differences, saveBaseline } from './baselines.js';
import { type Captured, captureVariant, launchBrowser, listScenes, pictureName, type Scene } from './capture.js';

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
  const variants = Object.keys(VARIANTS) as VariantName[];
  const left = variants.flatMap((variant) =>
    split(
      variant,
      scenes.filter((scene) => scene.variant === variant),
    ),
  );
  await Promise.all(
    Array.from({ length: WINDOWS }, async () => {
      for (let next = left.shift(); next !== undefined; next = left.shift())
        await captureAll(next.variant, next.scenes);
    }),
  );
}, 300_000);
afterAll(() => browser?.close());

/** Splits the scenes of a variant in two, so that all windows are busy until the end. */
function split(variant: VariantName, all: readonly Scene[]): { variant: VariantName; scenes: readonly Scene[] }[] {
  const middle = Math.ceil(all.length / 2);
  return [
    { variant, scenes: all.slice(0, middle) },
    { variant, scenes: all.slice(middle) },
  ];
}

function captureAll(variant: VariantName, wanted: readonly Scene[]): Promise<void> {
  return captureVariant(browser, inject('galleryOrigin'), variant, wanted, (scene, result) =>
    captured.set(scene, result),
  );
}

describe.each(Object.keys(VARIANTS) as VariantName[])('a screenshot of the variant %s', (variant) => {
  const wanted = scenes
    .filter((scene) => scene.variant === variant)
    .flatMap((scene) => scene.examples.map((example) => ({ scene, example })));

  it.each(wanted)('$example matches its baseline', async ({ scene, example }) => {
    const name = pictureName(example, variant);
    let difference = compare(name, scene, example);
    if (difference === null) return;
    if (!accepting && retries++ < MAX_RETRIES) {
      // On a busy machine a screenshot may show the middle of a change.
      await captureAll(variant, [scene]);
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
  const names = new Set(
    scenes.flatMap(({ variant, examples }) => examples.map((example) => pictureName(example, variant))),
  );
  const old = baselineNames().filter((name) => !names.has(name));
  if (accepting) old.forEach(deleteBaseline);
  else expect(old).toEqual([]);
});
