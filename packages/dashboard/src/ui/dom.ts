/** Joins class names and skips empty ones. */
export function classes(...names: readonly (string | false | null | undefined)[]): string {
  return names.filter(Boolean).join(' ');
}

/**
 * Runs a measurement just before the next paint, to avoid an extra layout.
 *
 * @returns a function that cancels it
 */
export function onNextFrame(run: () => void): () => void {
  const frame = requestAnimationFrame(run);
  return () => cancelAnimationFrame(frame);
}

/** Maximum wait for the removal of the focused element, and the interval of the checks, in milliseconds. */
const REMOVAL_MS = 1000;
const CHECK_INTERVAL_MS = 50;

/**
 * Moves the focus once the focused element is removed; keyboard and screen reader users would start again at the
 * top of the page. React removes it later, so this waits up to a second. Does nothing if another
 * element takes the focus, or the element stays.
 *
 * @param find finds the element to focus, once the page is drawn
 */
export function restoreFocus(find: () => Element | null | undefined): void {
  const focused = document.activeElement;
  const end = Date.now() + REMOVAL_MS;
  function check(): void {
    const { activeElement } = document;
    if (activeElement !== null && activeElement !== document.body) {
      if (activeElement === focused && Date.now() < end) setTimeout(check, CHECK_INTERVAL_MS);
      return;
    }
    const element = find();
    if (!(element instanceof HTMLElement) || !document.body.contains(element)) return;
    // A heading is focusable only with a tabindex.
    if (/^H\d$/.test(element.tagName)) element.tabIndex = -1;
    element.focus();
  }
  setTimeout(check);
}

/**
 * The index that a key moves to in a list that wraps around.
 *
 * @param index the current index; -1 for none
 * @param arrows the keys for the previous and the next item
 * @returns null for other keys
 */
export function getNextIndex(
  key: string,
  index: number,
  count: number,
  [before, after]: readonly [string, string] = ['ArrowUp', 'ArrowDown'],
): number | null {
  switch (key) {
    case after:
      return (index + 1) % count;
    case before:
      return (index <= 0 ? count : index) - 1;
    case 'Home':
      return 0;
    case 'End':
      return count - 1;
    default:
      return null;
  }
}
