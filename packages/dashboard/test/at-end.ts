const ends: (() => unknown)[] = [];

/** Does something when the test ends, while its document is still there; what was asked for last is done first. */
export function atEnd(end: () => unknown): void {
  ends.push(end);
}

/** Does all that was left for the end. */
export async function endTest(): Promise<void> {
  for (let end = ends.pop(); end !== undefined; end = ends.pop()) await end();
}
