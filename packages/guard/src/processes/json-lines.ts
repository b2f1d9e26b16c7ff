import type { Duplex } from 'node:stream';

/**
 * Sends JSON values over a stream, one in each line, and receives those of the other side. For small and frequent
 * messages: Node's own channel between processes takes several times as long for each.
 *
 * @param receive called with each value, in order
 * @returns sends a value; what can't be sent any more is dropped, since then the other process has ended
 */
export function exchangeJsonLines<Sent, Received>(
  stream: Duplex,
  receive: (value: Received) => void,
): (value: Sent) => void {
  let rest = '';
  stream.setEncoding('utf8');
  stream.on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() as string;
    for (const line of lines) receive(JSON.parse(line) as Received);
  });
  // The end of the other process is noticed by its own event.
  stream.on('error', () => {});
  return (value) => {
    if (stream.writable) stream.write(`${JSON.stringify(value)}\n`);
  };
}
