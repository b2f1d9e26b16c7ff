/** Longer than a message waits before its text appears, and than React needs for a page; milliseconds. */
const QUIET_MS = 70;
const MOST_MS = 4000;

/** Waits until the document has not changed for a moment. What changes for ever is waited for a while only. */
export async function settle(): Promise<void> {
  // Some parts are drawn only when the browser has time (useIdle); theirs was asked for before this one.
  await new Promise((resolve) => requestIdleCallback(resolve, { timeout: MOST_MS }));
  await new Promise<void>((resolve) => {
    const end = (): void => {
      watch.disconnect();
      clearTimeout(quiet);
      clearTimeout(most);
      resolve();
    };
    let quiet = setTimeout(end, QUIET_MS);
    const most = setTimeout(end, MOST_MS);
    const watch = new MutationObserver(() => {
      clearTimeout(quiet);
      quiet = setTimeout(end, QUIET_MS);
    });
    watch.observe(document.documentElement, { subtree: true, childList: true, attributes: true, characterData: true });
  });
  await document.fonts.ready;
  await new Promise(requestAnimationFrame);
}
