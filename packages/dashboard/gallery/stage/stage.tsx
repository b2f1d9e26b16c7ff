import { translate } from '../../src/i18n/translate.js';
import { type Example, type Group, isAlone, isPage, type Look } from '../example.js';
import { groups } from '../groups/index.js';
import { drawParts } from './draw-parts.js';
import { fixTime } from './fixed-time.js';
import { drawFrame } from './frame.js';
import { hands } from './hands.js';
import { openPage } from './open-page.js';
import { type Area, areasOf } from './picture-area.js';
import { settle } from './settle.js';
import { addStyles } from './styles.js';

/** Shows examples one after another. The pictures are taken through this; people come by the address. */
export interface Stage {
  /**
   * Shows a group's sheet, or one example alone, in place of what was there.
   *
   * @returns where the examples are, once nothing moves any more
   * @throws Error when there is no such example, or it could not be drawn
   */
  show(id: string): Promise<readonly Area[]>;
}

declare global {
  interface Window {
    galleryStage?: Stage;
  }
}

const query = new URLSearchParams(window.location.search);
const look: Look = {
  width: 1440,
  dir: query.get('dir') === 'rtl' ? 'rtl' : 'ltr',
  language: (['de', 'pseudo'] as const).find((name) => name === query.get('language')) ?? 'en',
};
const forPictures = query.has('pictures');

let clear = (): void => undefined;

async function show(id: string): Promise<readonly Area[]> {
  clear();
  clear = () => undefined;
  window.scrollTo(0, 0);
  const group = groups.find((item) => item.id === id || item.examples.some((example) => example.id === id));
  if (group === undefined) throw new Error(`There is no example ${id}.`);
  const example = group.examples.find((item) => item.id === id);
  clear = example !== undefined && isPage(example) ? await openPage(content, example, look) : drawSheet(group, example);
  await settle();
  if (example?.act) {
    await example.act(hands(translate));
    await settle();
  }
  if (forPictures) endAnimations();
  return areasOf(example === undefined ? group.examples.filter((item) => !isAlone(item)) : [example]);
}

/** What is still on its way to its place would be measured where it is now. Spinners go on for ever. */
function endAnimations(): void {
  for (const animation of document.getAnimations()) {
    if (Number.isFinite(animation.effect?.getComputedTiming().endTime)) animation.finish();
  }
}

function drawSheet(group: Group, example: Example | undefined): () => void {
  if (example !== undefined) return drawParts(content, { group, examples: [example], addressOf: null }, look);
  // What needs a document of its own gets one on a sheet for people, and a picture of its own.
  const examples = forPictures ? group.examples.filter((item) => !isAlone(item)) : group.examples;
  return drawParts(content, { group, examples, addressOf: addressIn }, look);
}

function addressIn(id: string): string {
  const inner = new URLSearchParams(query);
  inner.set('show', id);
  return `?${inner}`;
}

fixTime();
document.documentElement.dir = look.dir;
document.documentElement.lang = look.language === 'de' ? 'de' : 'en';
const content = drawFrame(document.getElementById('stage') as HTMLElement);
await addStyles(look.dir, forPictures);
const first = query.get('show');
if (first !== null) await show(first);
window.galleryStage = { show };
