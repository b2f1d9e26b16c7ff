import { type ReactNode, useEffect, useId, useRef, useState } from 'react';
import { classes, onNextFrame } from './dom.js';
import { PRESS_MS, TOOLTIP_DELAY_MS } from './timing.js';

export interface TooltipProps {
  /** Plain text; no tooltip when empty. */
  readonly text: string;
  readonly className?: string;
  readonly children: ReactNode;
}

/**
 * A tooltip with the full form of a truncated text, or with more details: after a second of hovering, at once on focus,
 * and during a long press. Only truncated texts are in the tab order, since each row has several tooltips.
 */
export function Tooltip({ text, className, children }: TooltipProps) {
  const id = useId();
  const [shown, setShown] = useState(false);
  const [cut, setCut] = useState(false);
  const element = useRef<HTMLSpanElement>(null);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);

  // biome-ignore lint/correctness/useExhaustiveDependencies: measured again when the text changes
  useEffect(() => {
    const callOff = onNextFrame(() => {
      const inner = element.current?.firstElementChild;
      setCut(inner instanceof HTMLElement && isTruncated(inner));
    });
    return () => {
      callOff();
      clearTimeout(timer.current);
    };
  }, [text]);

  useEffect(() => {
    if (!shown) return;
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.key === 'Escape') setShown(false);
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, [shown]);

  function after(ms: number): void {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setShown(true), ms);
  }

  function hide(): void {
    clearTimeout(timer.current);
    setShown(false);
  }

  if (text === '') return <span className={className}>{children}</span>;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: it only explains the text inside
    <span
      ref={element}
      className={classes('so-anchor', className)}
      tabIndex={cut ? 0 : undefined}
      aria-describedby={shown ? id : undefined}
      onMouseEnter={() => after(TOOLTIP_DELAY_MS)}
      onMouseLeave={hide}
      onFocus={() => setShown(true)}
      onBlur={hide}
      onTouchStart={() => after(PRESS_MS)}
      onTouchMove={hide}
      onTouchEnd={hide}
      onTouchCancel={hide}
    >
      {children}
      {shown ? (
        <span className="so-tip" role="tooltip" id={id} dir="ltr">
          {text}
        </span>
      ) : null}
    </span>
  );
}

/** Whether the text is truncated, in width or in height. */
function isTruncated({ scrollWidth, clientWidth, scrollHeight, clientHeight }: HTMLElement): boolean {
  return scrollWidth > clientWidth || scrollHeight > clientHeight;
}
