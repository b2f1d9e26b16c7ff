import { useId, useRef } from 'react';
import { __ } from '../i18n/translate.js';
import { Icon } from '../icons/icon.js';
import { classes } from './classes.js';
import { IconTile } from './icon-tile.js';
import { Switch } from './switch.js';

export interface ToggleRowProps {
  readonly icon: string;
  readonly title: string;
  readonly help: string;
  readonly on: boolean;
  readonly pending: boolean;
  readonly recommended: boolean;
  readonly disabled?: boolean;
  /** What went wrong with the last change, in one sentence. */
  readonly error?: string | undefined;
  readonly onToggle: () => void;
  readonly onRetry: () => void;
}

/** A setting with a switch. It tells about its own change: pending, saved or failed. */
export function ToggleRow(props: ToggleRowProps) {
  const { icon, title, help, on, pending, recommended, disabled = false, error, onToggle, onRetry } = props;
  const id = useId();
  const control = useRef<HTMLButtonElement>(null);

  function retry(): void {
    // The button goes away with the message; without this the keyboard would start again at the top of the page.
    control.current?.focus();
    onRetry();
  }

  return (
    <div className={classes('so-row so-row--switch', pending && 'is-busy')}>
      <IconTile name={icon} state={on ? 'on' : 'off'} />
      <div className="so-row__text">
        <h3>
          <span id={`${id}-title`}>{title}</span>
          {recommended ? (
            <>
              {' '}
              <span className="so-tag" id={`${id}-tag`}>
                {__('recommended', 'security-optimizer')}
              </span>
            </>
          ) : null}
        </h3>
        <p id={`${id}-help`}>{help}</p>
        {error !== undefined ? (
          <p className="so-error" role="alert">
            <Icon name="error" />
            <span>
              {error}{' '}
              <button type="button" className="so-link" onClick={retry}>
                {__('Try again', 'security-optimizer')}
              </button>
            </span>
          </p>
        ) : null}
      </div>
      <div className="so-row__ctl">
        <Switch
          ref={control}
          on={on}
          pending={pending}
          disabled={disabled}
          labelledBy={`${id}-title`}
          describedBy={recommended ? `${id}-tag ${id}-help` : `${id}-help`}
          onToggle={onToggle}
        />
      </div>
    </div>
  );
}
