import { createContext, type ReactNode, useContext } from 'react';
import { createPortal } from 'react-dom';

/** The place at the foot of the header band, once it is drawn. */
export const HeadFootPlace = createContext<HTMLElement | null>(null);

/** Draws what belongs to a page at the foot of the header band: its tabs. */
export function HeadFoot({ children }: { readonly children: ReactNode }) {
  const place = useContext(HeadFootPlace);
  return place === null ? null : createPortal(children, place);
}
