import { useEffect, useState } from 'react';

/**
 * Keeps something on the screen while its closing animation plays.
 *
 * @param ms length of the animation
 * @returns whether to draw it, and whether it is on its way out
 */
export function useLeaving(open: boolean, ms: number): { readonly drawn: boolean; readonly leaving: boolean } {
  const [drawn, setDrawn] = useState(open);
  if (open && !drawn) setDrawn(true);
  useEffect(() => {
    if (open || !drawn) return;
    const timer = setTimeout(() => setDrawn(false), ms);
    return () => clearTimeout(timer);
  }, [open, drawn, ms]);
  return { drawn: open || drawn, leaving: !open && drawn };
}
