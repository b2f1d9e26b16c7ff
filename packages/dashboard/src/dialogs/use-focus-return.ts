import { useEffect, useState } from 'react';

/**
 * Gives the focus back to where it was when the dialog opened, once the dialog is gone and the page behind it can
 * take it again.
 */
export function useFocusReturn(): void {
  const [opener] = useState(() => document.activeElement);
  useEffect(() => {
    return () => {
      setTimeout(() => {
        const isLost = document.activeElement === null || document.activeElement === document.body;
        if (isLost && opener instanceof HTMLElement && document.body.contains(opener)) opener.focus();
      });
    };
  }, [opener]);
}
