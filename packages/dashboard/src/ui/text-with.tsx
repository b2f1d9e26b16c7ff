import type { ReactNode } from 'react';

/** A text with an element in place of its `%s`, such as a name with its own reading direction. */
export function TextWith({ text, children }: { readonly text: string; readonly children: ReactNode }) {
  const [before, after] = text.split('%s');
  return (
    <>
      {before}
      {children}
      {after}
    </>
  );
}
