/**
 * Whether an answer is a stream of events, which must reach the visitor before the first event does (HTML Living Standard,
 * server-sent events).
 *
 * @param headers names and values in turn
 */
export function isEventStream(headers: readonly string[]): boolean {
  for (let i = 0; i < headers.length; i += 2) {
    if (headers[i]?.length === 12 && headers[i]?.toLowerCase() === 'content-type') {
      return (headers[i + 1] as string).startsWith('text/event-stream');
    }
  }
  return false;
}
