import { type FocusEvent, type KeyboardEvent, type RefObject, useRef, useState } from 'react';

export interface Drop {
  readonly open: boolean;
  /** Holds the field and what it opens. */
  readonly anchor: RefObject<HTMLDivElement | null>;
  readonly field: RefObject<HTMLInputElement | null>;
  /** Closes; the focus goes back to the field. */
  readonly close: () => void;
  readonly anchorProps: {
    readonly onKeyDown: (event: KeyboardEvent) => void;
    readonly onBlur: (event: FocusEvent) => void;
  };
  readonly fieldProps: {
    readonly onClick: () => void;
    readonly onKeyDown: (event: KeyboardEvent) => void;
  };
}

/** A field that opens something below it: by click, Enter, Space or arrow down; closed by Escape and by leaving. */
export function useDrop(): Drop {
  const [open, setOpen] = useState(false);
  const anchor = useRef<HTMLDivElement>(null);
  const field = useRef<HTMLInputElement>(null);

  function close(): void {
    field.current?.focus();
    setOpen(false);
  }

  return {
    open,
    anchor,
    field,
    close,
    anchorProps: {
      onKeyDown(event) {
        if (event.key !== 'Escape' || !open) return;
        // The dialog around it stays.
        event.stopPropagation();
        close();
      },
      onBlur(event) {
        const next = event.relatedTarget;
        if (next instanceof Node && !anchor.current?.contains(next)) setOpen(false);
      },
    },
    fieldProps: {
      onClick: () => setOpen((before) => !before),
      onKeyDown(event) {
        if (event.key !== 'Enter' && event.key !== ' ' && event.key !== 'ArrowDown') return;
        event.preventDefault();
        setOpen(true);
      },
    },
  };
}
