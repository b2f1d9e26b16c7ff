/**
 * Gives the focus a place when its own has gone with what was pressed: the keyboard and screen readers would begin again
 * at the top of the page. Where the focus is anywhere, it stays.
 *
 * @param find the element that takes it, looked for once the page is drawn
 */
export function keepFocus(find: () => Element | null | undefined): void {
  setTimeout(() => {
    if (document.activeElement !== null && document.activeElement !== document.body) return;
    const element = find();
    if (!(element instanceof HTMLElement) || !document.body.contains(element)) return;
    // A heading takes it only from here.
    if (/^H\d$/.test(element.tagName)) element.tabIndex = -1;
    element.focus();
  });
}
