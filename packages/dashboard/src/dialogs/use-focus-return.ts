import { useEffect, useState } from 'react';
import { keepFocus } from '../components/keep-focus.js';

/**
 * Gives the focus back to where it was when the dialog opened, once the dialog is gone and the page behind it can
 * take it again.
 */
export function useFocusReturn(): void {
  const [opener] = useState(() => document.activeElement);
  useEffect(() => () => keepFocus(() => opener), [opener]);
}
