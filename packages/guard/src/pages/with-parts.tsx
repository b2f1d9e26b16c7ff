import { Fragment, type ReactNode } from 'react';

/**
 * A text in which some names (`{login}`) stand for more than words, in the order that the language has them.
 * @param plain what the words between them are put in
 */
export function withParts(
  text: string,
  parts: Readonly<Record<string, ReactNode>>,
  plain: (words: string) => ReactNode = (words) => words,
): ReactNode {
  // Every second piece is a name.
  const pieces = text.split(/\{(\w+)\}/);
  return pieces.map((piece, at) => {
    const part = at % 2 === 1 ? (parts[piece] ?? `{${piece}}`) : piece === '' ? null : plain(piece);
    // biome-ignore lint/suspicious/noArrayIndexKey: the pieces of a text never change places
    return <Fragment key={at}>{part}</Fragment>;
  });
}
