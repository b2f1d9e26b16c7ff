import { createContext, type ReactNode, type ReactPortal, useContext } from 'react';
import { createPortal } from 'react-dom';

/** The environment of the controls. */
export interface UiHost {
  /** Element at the end of the body for dialogs. */
  readonly portal: Element;
  /** Folder of the static files, with a slash at the end, or empty. */
  readonly assetsPath: string;
  /** Fetches icons. */
  readonly fetch: typeof globalThis.fetch;
}

export const UiContext = createContext<UiHost | null>(null);

export function useUiHost(): UiHost {
  const host = useContext(UiContext);
  if (host === null) throw new Error('useUiHost needs a UiContext above it.');
  return host;
}

/** The element at the foot of the page header, once it is drawn. */
export const HeaderFootContext = createContext<HTMLElement | null>(null);

/** Draws a part of a page, such as its tabs, at the foot of the page header. */
export function HeaderFoot({ children }: { readonly children: ReactNode }): ReactPortal | null {
  const foot = useContext(HeaderFootContext);
  return foot === null ? null : createPortal(children, foot);
}
