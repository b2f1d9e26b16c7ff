import { type Example, isPage } from '../example.js';

/** Rectangle of an example in the document, CSS pixels. */
export interface Area {
  readonly id: string;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  /** Positioned relative to the window. */
  readonly fixed: boolean;
}

/** Margin around a dialog or a part of a page, CSS pixels. */
const MARGIN = 8;

/** Finds the rectangle of each example: the open dialog, the page, or the box of the part. */
export function measureAreas(examples: readonly Example[]): readonly Area[] {
  return examples.map((example) => {
    const dialogs = document.querySelectorAll('.so-dialog');
    const dialog = dialogs[dialogs.length - 1];
    if (dialog !== undefined) return measureArea(example.id, dialog, MARGIN, true);
    if (isPage(example) && example.area !== undefined) {
      const part = document.querySelector(example.area);
      if (part === null) throw new Error(`There is no ${example.area} on ${example.id}.`);
      return measureArea(example.id, part, MARGIN, false);
    }
    const toasts = document.querySelector('.so-toasts');
    if (!isPage(example) && toasts?.firstElementChild) return measureArea(example.id, toasts, MARGIN, true);
    const box = isPage(example) ? document.querySelector('.so-app') : document.getElementById(example.id);
    if (box === null) throw new Error(`${example.id} was not drawn.`);
    return measureArea(example.id, box, 0, false);
  });
}

function measureArea(id: string, element: Element, margin: number, fixed: boolean): Area {
  const box = element.getBoundingClientRect();
  const width = document.documentElement.clientWidth;
  const bottom = fixed ? window.innerHeight : Number.POSITIVE_INFINITY;
  const left = Math.max(0, Math.floor(box.left - margin));
  const top = Math.max(0, Math.floor(box.top + (fixed ? 0 : window.scrollY) - margin));
  return {
    id,
    x: left,
    y: top,
    width: Math.min(width, Math.ceil(box.right + margin)) - left,
    height: Math.min(bottom, Math.ceil(box.bottom + (fixed ? 0 : window.scrollY) + margin)) - top,
    fixed,
  };
}
