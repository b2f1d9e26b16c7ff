import { type BlockDuration, blockDurations } from '@security-optimizer/contract/activity/blocks';
import { useRef, useState } from 'react';
import type { ApiError } from '../../api/envelope.js';
import { failureReason } from '../../api/outcome-messages.js';
import { __, sprintf } from '../../i18n/translate.js';
import { Button } from '../../ui/button.js';
import { classes } from '../../ui/dom.js';
import { Icon } from '../../ui/icon.js';
import { ErrorText } from '../../ui/inline-messages.js';
import { useMenu } from '../../ui/menu.js';
import { useSiteClock } from '../settings/site-clock.js';
import { type BlockTarget, blockForText, DEFAULT_DURATION, endText } from './blocks.js';
import type { Blocking } from './use-blocking.js';

export interface BlockSplitProps {
  /** Null while it loads. */
  readonly target: BlockTarget | null;
  readonly blocking: Blocking;
}

/** Block for 24 hours with one click, other durations and the popover in a menu; Unblock for a blocked visitor. */
export function BlockSplit({ target, blocking }: BlockSplitProps) {
  const [pending, setPending] = useState(false);
  const [failure, setFailure] = useState<ApiError | null>(null);
  const isBlocked = target !== null && target.block !== null && target.block.by !== 'lock';

  async function change(run: (() => Promise<ApiError | null>) | null): Promise<void> {
    if (pending || run === null) return;
    setPending(true);
    setFailure(await run());
    setPending(false);
  }

  function block(duration: BlockDuration): void {
    void change(target && (() => blocking.block(target, { duration, note: '', scope: 'default' })));
  }

  const pendingText = pending
    ? isBlocked
      ? __('Unblocking…', 'security-optimizer')
      : __('Blocking…', 'security-optimizer')
    : undefined;
  return (
    <>
      {failure === null ? null : <ErrorText>{failureReason(failure)}</ErrorText>}
      <div className="so-split">
        <Button
          kind={isBlocked ? 'secondary' : 'danger'}
          disabled={target === null}
          pendingText={pendingText}
          onClick={() => {
            if (isBlocked) void change(target && (() => blocking.unblock(target)));
            else block(DEFAULT_DURATION);
          }}
        >
          {isBlocked ? __('Unblock', 'security-optimizer') : blockForText(DEFAULT_DURATION)}
        </Button>
        {isBlocked ? null : (
          <DurationMenu
            disabled={target === null || pending}
            onChoose={block}
            onMore={(anchor) => target !== null && blocking.choose(target, anchor)}
          />
        )}
      </div>
    </>
  );
}

interface DurationMenuProps {
  readonly disabled: boolean;
  readonly onChoose: (duration: BlockDuration) => void;
  /** Opens the popover, with network and note. */
  readonly onMore: (anchor: HTMLElement) => void;
}

/** Index of the usual duration in the menu. */
const USUAL = blockDurations.indexOf(DEFAULT_DURATION);

/** The durations with their ends, above the button. */
function DurationMenu({ disabled, onChoose, onMore }: DurationMenuProps) {
  const frame = useRef<HTMLDivElement>(null);
  const button = useRef<HTMLButtonElement>(null);
  const { open, drawn, leaving, toggle, choose, onKeyDown } = useMenu(frame, USUAL);
  const clock = useSiteClock();

  function untilText(duration: BlockDuration): string {
    if (duration === 0) return __('until you unblock', 'security-optimizer');
    const end = endText(Math.floor(Date.now() / 1000) + duration, clock);
    /* translators: %s: day and time, for example "tomorrow, 14:35" */
    return sprintf(__('until %s', 'security-optimizer'), end);
  }

  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: handles keys of the button and the menu inside
    <span ref={frame} className="so-split__more" onKeyDown={onKeyDown}>
      <button
        ref={button}
        type="button"
        className={classes('so-btn so-btn--danger', open && 'is-open')}
        aria-label={__('Choose for how long', 'security-optimizer')}
        aria-haspopup="menu"
        aria-expanded={open}
        disabled={disabled}
        onClick={toggle}
      >
        <Icon name="chevron-down" />
      </button>
      {drawn ? (
        <div
          className={classes('so-pop so-menu so-menu--up so-menu--wide', leaving && 'is-leaving')}
          role="menu"
          aria-label={__('Choose for how long', 'security-optimizer')}
          aria-hidden={leaving || undefined}
        >
          {blockDurations.map((duration) => (
            <button
              key={duration}
              type="button"
              role="menuitem"
              tabIndex={-1}
              onClick={() => choose(() => onChoose(duration))}
            >
              {forText(duration)}
              <small className="so-num">{untilText(duration)}</small>
            </button>
          ))}
          <div className="so-menu__sep" />
          <button
            type="button"
            role="menuitem"
            tabIndex={-1}
            onClick={() => choose(() => button.current !== null && onMore(button.current))}
          >
            {__('Network or note…', 'security-optimizer')}
          </button>
        </div>
      ) : null}
    </span>
  );
}

function forText(duration: BlockDuration): string {
  switch (duration) {
    case 3600:
      return __('For 1 hour', 'security-optimizer');
    case 86_400:
      return __('For 24 hours', 'security-optimizer');
    case 604_800:
      return __('For 7 days', 'security-optimizer');
    default:
      return __('For good', 'security-optimizer');
  }
}
