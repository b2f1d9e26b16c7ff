const ends: (() => unknown)[] = [];

/** Registers a clean-up for the end of the test, while its document still exists. The last one runs first. */
export function atEnd(end: () => unknown): void {
  ends.push(end);
}

/** Runs all clean-ups. */
export async function endTest(): Promise<void> {
  for (let end = ends.pop(); end !== undefined; end = ends.pop()) await end();
}
