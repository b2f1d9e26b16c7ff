import { terminalText } from '../lib/plain-text.js';

/**
 * Makes all text that the process writes to a stream from now on inert: characters with an effect on a terminal, which a
 * visitor, a site's owner or a file may have chosen, are escaped like `\u001b`. JSON keeps its meaning, because such
 * characters occur only in its strings, where this is their own notation. Line breaks stay, so a command shows a value
 * that may contain one by `lineText`.
 */
export function makeInert(stream: NodeJS.WriteStream): void {
  const write = stream.write.bind(stream) as (chunk: unknown, ...rest: unknown[]) => boolean;
  stream.write = (chunk: unknown, ...rest: unknown[]) =>
    write(typeof chunk === 'string' ? terminalText(chunk) : chunk, ...rest);
}
