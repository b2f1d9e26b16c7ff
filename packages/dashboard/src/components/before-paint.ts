/**
 * Runs what measures the page when its next picture is about to be made. Measured at once, the browser would have to lay
 * out the page once more for it.
 *
 * @returns a function that calls it off
 */
export function beforePaint(run: () => void): () => void {
  const frame = requestAnimationFrame(run);
  return () => cancelAnimationFrame(frame);
}
